package segment

// stopping says how likely a full stop after a word ends the sentence.
type stopping int

const (
	always       stopping = iota // no abbreviation
	never                        // "Dr. Smith"
	beforeNumber                 // an abbreviation only before a number: "No. 5", "Fig. 2"
	maybe                        // "Inc.", "etc.": the next word decides
)

// abbreviation looks word up, without its last full stop; low is the same in
// lower case. Days and months count with a capital only: "the cat sat."
func abbreviation(word, low string) stopping {
	switch low {
	case "mr", "mrs", "ms", "messrs", "mx", "dr", "drs", "prof", "rev", "hon", "gen", "col", "maj", "capt", "lt", "sgt", "cpl", "cmdr",
		"gov", "sen", "rep", "mme", "mlle", "vs", "cf", "e.g", "eg", "i.e", "viz", "approx", "resp", "supt", "insp":
		return never
	case "no", "nos", "fig", "figs", "eq", "eqs", "sec", "secs", "ch", "vol", "vols", "p", "pp", "art", "ref", "refs", "tab", "op", "pt", "ver", "v", "chap", "nr", "ca":
		return beforeNumber
	case "inc", "ltd", "co", "corp", "llc", "plc", "bros", "jr", "sr", "esq", "etc", "al", "dept", "univ", "assn", "st", "mt", "ft", "ave", "blvd", "rd", "tel", "spp", "sp":
		return maybe
	}
	switch word {
	case "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun":
		return maybe
	}
	return always
}

// isStarter is true for the words that mostly start a sentence when they are
// written with a capital in front: after "Inc." they tell an end, while a name
// tells none.
func isStarter(word string) bool {
	switch word {
	case "The", "A", "An", "This", "That", "These", "Those", "It", "Its", "He", "She", "They", "We", "You", "I", "His", "Her", "Their", "Our", "My", "Your",
		"There", "Here", "In", "On", "At", "By", "For", "From", "With", "As", "After", "Before", "During", "Since", "When", "While", "Where", "What", "Who", "Why", "How",
		"If", "Although", "Though", "But", "And", "Or", "So", "Yet", "However", "Then", "Thus", "Also", "Both", "Each", "Some", "Many", "Most", "All", "No", "Not",
		"Is", "Are", "Was", "Were", "Do", "Does", "Did", "Can", "Could", "Will", "Would", "Should", "May", "It's", "I'm", "I'll", "I've", "He's", "She's", "We're", "They're", "That's", "There's", "Let's", "Please", "Because", "Only", "One", "Two", "To", "Once", "Now", "Next", "Finally":
		return true
	}
	return false
}
