package bank

// Made is what says how the contents of o's indexes are made: the dimension, and
// the fingerprints of vectors and of words.
func Made(o *Options) (dim int, vectors, words string) {
	e, err := o.embedder()
	if err != nil {
		return 0, "", ""
	}
	return e.Dim(), projection(e), projection(e)
}
