package configs_test

import (
	"fmt"

	"github.com/vimbank/vimbank/configs"
)

func ExampleLoad() {
	l, err := configs.Load(configs.Sources{Flags: map[string]string{"recall.k": "20"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Config.Recall.K, "from", l.Origin("recall.k"))
	fmt.Println(l.Config.Recall.Profile, "from", l.Origin("recall.profile"))

	_, err = configs.Load(configs.Sources{Flags: map[string]string{"recall.k": "twenty"}})
	fmt.Println(err)
	// Output:
	// 20 from flag
	// default from default
	// configs.Load: invalid: field "recall.k": found "twenty" (flag), wanted a whole number
}
