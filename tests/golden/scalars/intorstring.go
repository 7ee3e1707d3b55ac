package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/intstr"
)

type intOrStringRow struct {
	JSON   string       `json:"json"`
	Decode string       `json:"decode,omitempty"` // why it is no IntOrString
	Text   string       `json:"text"`
	Scaled []scaledCase `json:"scaled,omitempty"`
	Error  string       `json:"error,omitempty"` // why it does not scale
}

type scaledCase struct {
	Total int `json:"total"`
	Up    int `json:"up"`
	Down  int `json:"down"`
}

func intOrStringRows() []any {
	inputs := []string{
		"0", "1", "-7", "2147483647", "-2147483648", "2147483648", "-2147483649", "1.5", "1e3", "true", "null",
		"[]", "{}",
		`"25%"`, `"0%"`, `"1%"`, `"33%"`, `"100%"`, `"150%"`, `"-25%"`, `"+25%"`, `"025%"`, `"%"`, `""`, `"5"`,
		`"-5"`, `"http"`, `"25%%"`, `"%25"`,
		`"25 %"`, `" 25%"`, `"2 5%"`, `"2.5%"`, `"abc%"`, `"0x1%"`, `"1_0%"`, `"99999999999999999999%"`,
		`"-99999999999999999999%"`,
		`"9223372036854775807"`, `"9223372036854775808"`, `"a\"b%"`, `"a\nb%"`, `"\u0001%"`,
		`"\u0007\u0008\u000b\u000c%"`, `"é%"`, `"\u007f%"`, `"--1%"`, `"+%"`,
	}
	totals := []int{0, 1, 2, 3, 7, 10, 100, 101, 1000000007, -10}
	var rows []any
	for _, in := range inputs {
		row := intOrStringRow{JSON: in}
		var value intstr.IntOrString
		if err := json.Unmarshal([]byte(in), &value); err != nil {
			row.Decode = err.Error()
			rows = append(rows, row)
			continue
		}
		row.Text = value.String()
		for _, total := range totals {
			up, err := intstr.GetScaledValueFromIntOrPercent(&value, total, true)
			if err != nil {
				row.Error = err.Error()
				break
			}
			down, _ := intstr.GetScaledValueFromIntOrPercent(&value, total, false)
			row.Scaled = append(row.Scaled, scaledCase{total, up, down})
		}
		rows = append(rows, row)
	}
	return rows
}
