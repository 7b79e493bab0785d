// Package configs reads the settings of VIMBank: the one gate of viper, and
// the only place that looks at files, environment and flags.
//
// A setting comes from the profile (embedded, paper or cluster, all in the
// binary), a YAML file, the environment and the flags; the later wins. A key
// that does not exist, a value of the wrong kind and one out of range are errors
// that name the field, what was found, what is wanted, and where. [Loaded.Print]
// shows every setting with the place it came from, and no secret.
//
// The environment variable of a key is VIMBANK_ and the key in capitals with _
// for its dots: recall.profile is VIMBANK_RECALL_PROFILE. Durations are written
// as 30s, 24h, 7d or 1d12h.
//
// What a setting means is said by the options of the package it is for; the
// profile embedded holds exactly what their zero values mean.
package configs
