// Package timeword finds the times that a text names: "May 2nd", "last
// Tuesday", "three weeks ago", "2023年5月2日", "上个月". It turns each into a
// half-open range on the calendar of the moment at which the text was said.
//
// It knows English and Chinese, mixed as they come. What it gives is meant: a
// word that may be a time but need not be ("may", "march", the name June), a
// vague one ("a few days ago", "recently") and a day that does not exist (31
// February) give nothing, because a wrong range hides the right memory.
//
// The package is pure and needs no locale data. What a range is used for is
// left to its callers.
package timeword
