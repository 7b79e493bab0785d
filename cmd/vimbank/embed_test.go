package main

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// embed answers as a server of embeddings does. A model is called after its
// dimension, "m8"; its vectors tell texts apart and nothing more.
func embed(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	dim, err := strconv.Atoi(strings.TrimPrefix(ask.Model, "m"))
	if err != nil || dim < 1 || dim > sha256.Size {
		http.Error(w, "no such model", http.StatusNotFound)
		return
	}
	type embedding struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var answer struct {
		Data []embedding `json:"data"`
	}
	for i, text := range ask.Input {
		e := embedding{Index: i}
		sum := sha256.Sum256([]byte(text))
		for _, b := range sum[:dim] {
			e.Embedding = append(e.Embedding, float64(b)-127.5)
		}
		answer.Data = append(answer.Data, e)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a client that has left learns nothing more
}
