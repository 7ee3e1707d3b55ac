package main

import (
	"math"
	"math/rand"
	"time"
)

type durationRow struct {
	In    string `json:"in"`
	Error string `json:"error,omitempty"`
	Nanos int64  `json:"nanos"`
	Print string `json:"print,omitempty"`
}

func durationRows() []any {
	inputs := []string{
		"0", "+0", "-0", "00", "0s", "1", "5", "1s", "-1s", "+1s", "1h2m3.5s", "300ms", "1.5h", "-1.5h", "2h45m",
		"1ns", "1us", "1µs", "1μs", "1ms", "1m", "1h", "1d", "1w", "1S", "1 s", " 1s", "1s ",
		"1h 2m", "1h-2m", "1h+2m", "--1s", "+-1s", "-+1s", "", "+", "-", ".", ".s", "-.s", "s", "-s", "h", "1.s",
		".5s", "-.5s", "1.5.5s", "1..5s", "1e3s", "1,5s", "0x1s", "3000000h", "abc", "1x", "1hx", "1h1",
		"1h1.", "1h.1", "1sx2", "1é", "1\"", "1\\", "1\n", "1\u007f", "1½s", "1s½", "1mss", "1usus", "1µ", "10m10m",
		"1s1h", "0.1ns", "0.9ns", "1.9ns", "0.999999999s", "0.9999999999s", "0.000000001s", "0.0000000001s",
		"0.333333333333333333333333333h", "0.3333333333333333333h", "1.0000000000000000000000000001s",
		"0.100000000000000000000h", "9007199254.740993ms", "0.830103483285477580700h", "39h9m14.425s",
		"52763797000ns",
		"9223372036854775807ns", "9223372036854775808ns", "-9223372036854775807ns", "-9223372036854775808ns",
		"-9223372036854775809ns", "9223372036854775.807us", "9223372036s854ms775us807ns",
		"9223372036s854ms775us808ns",
		"-9223372036s854ms775us808ns", "-9223372036s854ms775us809ns", "18446744073709551615ns",
		"18446744073709551616ns", "99999999999999999999999999999999h", "2562047h47m16.854775807s",
		"2562047h47m16.854775808s", "-2562047h47m16.854775808s",
		"2562048h", "-2562048h", "9223372036854775807s", "0.9223372036854775807h", "0.9223372036854775808h",
		"922337203685477580.7ns", "9223372036854775807.9ns", "-9223372036854775808.9ns",
		"00000000000000000000000001s", "1m0.5h", "100000000000000000000s",
		"9223372036854775808ns9223372036854775808ns", "null", "P1D", "PT1H", "1h2m3s4ms5us6ns", "-1h2m3s4ms5us6ns",
		"1.1h1.1m1.1s1.1ms1.1us1.1ns",
	}
	random := rand.New(rand.NewSource(2))
	units := []string{"ns", "us", "µs", "ms", "s", "m", "h", "d"}
	for i := 0; i < 60; i++ {
		in := []string{"", "-"}[random.Intn(2)]
		for n := 1 + random.Intn(3); n > 0; n-- {
			for d := random.Intn(6); d >= 0; d-- {
				in += string(rune('0' + random.Intn(10)))
			}
			if random.Intn(2) == 0 {
				in += "."
				for d := random.Intn(14); d > 0; d-- {
					in += string(rune('0' + random.Intn(10)))
				}
			}
			in += units[random.Intn(len(units))]
		}
		inputs = append(inputs, in)
	}
	var rows []any
	for _, in := range inputs {
		row := durationRow{In: in}
		if d, err := time.ParseDuration(in); err != nil {
			row.Error = err.Error()
		} else {
			row.Nanos, row.Print = int64(d), d.String()
		}
		rows = append(rows, row)
	}
	return rows
}

// [nanoseconds, text]
func durationPrintRows() []any {
	values := []int64{0, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	for power := int64(1); power < math.MaxInt64/10; power *= 10 {
		values = append(values, power, -power, 9*power, power+1, 15*power/10)
	}
	second := int64(time.Second)
	for _, unit := range []int64{second / 1000000, second / 1000, second, 60 * second, 3600 * second, 86400 * second} {
		values = append(values, unit, unit-1, unit+1, -unit, 3*unit/2, 100*unit)
	}
	var rows []any
	for _, ns := range values {
		rows = append(rows, []any{ns, time.Duration(ns).String()})
	}
	return rows
}
