package main

import (
	"math/big"
	"math/rand"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type quantityRow struct {
	In        string `json:"in"`
	Error     string `json:"error,omitempty"`
	Canonical string `json:"canonical,omitempty"`
	Exact     string `json:"exact,omitempty"` // the number, where the canonical form does not read back as it
	Echo      string `json:"echo,omitempty"`  // what String() and kubectl print, where that is not the canonical form
	Format    string `json:"format,omitempty"`

	// Value() and MilliValue(), or "overflow" where the number does not fit int64. The second pair is there where
	// apimachinery gave something else than the number rounded away from zero: that rounded number.
	Value      any `json:"value,omitempty"`
	Milli      any `json:"milli,omitempty"`
	ExactValue any `json:"exactValue,omitempty"`
	ExactMilli any `json:"exactMilli,omitempty"`
}

func quantityRows() []any {
	var rows []any
	seen := map[string]bool{}
	add := func(in string) {
		if !seen[in] {
			seen[in] = true
			rows = append(rows, quantityOf(in))
		}
	}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	for _, number := range []string{"0", "1", "-1", "1.5", "-2.25", "1000", "1024", "0.1", "1536", "123456789"} {
		for _, suffix := range suffixes {
			add(number + suffix)
		}
	}
	for _, in := range oddQuantities {
		add(in)
	}
	random := rand.New(rand.NewSource(1))
	suffixes = append(suffixes, "e3", "E-6", "e-9", "e+12", "e-1", "e2")
	for i := 0; i < 120; i++ {
		digits := func(most int) string {
			var text strings.Builder
			for n := random.Intn(most + 1); n > 0; n-- {
				text.WriteByte(byte('0' + random.Intn(10)))
			}
			return text.String()
		}
		in := []string{"", "", "", "-", "+"}[random.Intn(5)] + digits(12)
		if random.Intn(2) == 0 {
			in += "." + digits(12)
		}
		add(in + suffixes[random.Intn(len(suffixes))])
	}
	for i := 0; i < 60; i++ {
		var text strings.Builder
		for n := 1 + random.Intn(6); n > 0; n-- {
			const alphabet = "0123456789.+-eEinumkKMGTP x"
			text.WriteByte(alphabet[random.Intn(len(alphabet))])
		}
		add(text.String())
	}
	return rows
}

// Each line is a rule of its own: signs, empty parts, rounding, limits, wrong text.
// 1e-2147483647 and 1e2147483648 are missing: apimachinery computes 10^2147483638 for them and does not come back.
var oddQuantities = []string{
	"", " ", "+", "-", ".", "+.", "-.", "k", "Ki", "m", "E", "e", "i", "K", "Mi1", "+k", ".k", "-Ki",
	"e-9", "e-10", "+e-10", ".e-10", "0e-10", ".0e-10", "-.e-11", "e3", "E3", "e+3", "e-3",
	"+1", "+1Ki", "01", "0001Ki", "00", "-0", "+0", "0.0", "-0.0Ki", "0.", "1.", "1.G", "1.Gi", ".5", "-.5",
	"+.5Ki", ".5Ki",
	"1.500", "1.234", "1.2345", "1.23456", "0.100", "0.001", "0.0001", "0.5Mi", "0.3Ki", "-0.3Ki", "1.1Ki", "1.5Gi",
	"2.5Ti",
	"0.0001Ki", "-.0001Ki", "0.0009765625Ki", "0.00097656250001Ki", "0.9999Ki", "1023", "1023.5", "1025Ki",
	"1024Ki", "1024Mi",
	"1048576Ki", "8Ki", "16Ki", "9Ki", "1e3Ki", "1Ki3",
	"1e3", "1E3", "1e03", "1e+3", "1e-3", "1e0", "1e-0", "12e6", "1000e3", "1500e3", "1e1", "1e2", "1e4", "1e5",
	"5e-1", "5e-2",
	"1e-9", "1e-10", "1e-12", "-1e-12", "123e-12", "1e-100", "0e-100", "0e100", "1.5e3", "1.5e-3", "1.5e1",
	"100e-2", "1e18",
	"1e19", "1e20", "1e21", "1e30", "1e37", "1e38", "1e99", "1e100", "-1e100", "1e1000", "7e2147483646",
	"1e2147483647",
	"1e4294967299", "0e4294967299", "1e9223372036854775807", "1e9223372036854775808",
	"1e-9223372036854775809", "0.1e-2147483648", "10e2147483647", "1000e2147483647",
	"0.1n", "0.01u", "1.0000000001", "-1.0000000001", "0.0000000001", "-0.0000000001", "1.1111111111", "1.9999999999",
	"0.9999999999", "-0.9999999999", "999.9999999999m", "1.23n", "0.000000001Ki", "0.0000000001Ki", "1.0000000001Ki",
	"0.1234567890123456789012345678901234567890Ei", "-3.14159265358979323846264338327950288Pi",
	"1.00000000000000000000000000001Ki",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"9223372036854775807k",
	"9223372036854775807m", "9223372036854775808m", "9223372036854775807Ki", "-9223372036854775807Ki", "7Ei",
	"7.9Ei", "8Ei",
	"-8Ei", "16Ei", "1000Ei", "9007199254740992Ki", "9007199254740991Ki", "7.99999999999999999999Ei",
	"123456789012345678",
	"1234567890123456789", "12345678901234567890", "123456789012345678901", "0.123456789123456789",
	"123456789.123456789",
	"123456789123.123456789", "12345678901234567890123456789.123456789", "123456789012345678901234567890.123456789",
	"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
	"999999999999999999999999999999999999999", "100000000000000000000000000000000000000000", "1000000000000000000000",
	"100000000000000000000", "1000E", "100E", "-1000E", "1234E", "1000000E", "999999999999999999999E", "1E", "10E",
	"1000P", "1000000P",
	"99999999999999999999999999999999999999999Ei", "99999999999999999999999999999999999999999.5Ki", "9e18",
	"9.3e18", "922337203685477580700e-2",
	"1 ", " 1", "1 Ki", "1\n", "1\t", "1_000", "1,5", "0x10", "1f", "inf", "NaN", "abc", "a1", "1a", "1Kib", "1ki",
	"1K", "1KI", "1mi",
	"1MiMi", "1kk", "1nn", "1um", "1i", "1ii", "1Zi", "1Z", "1Y", "1ui", "1ni", "1e", "1E+", "1e-", "1e++3",
	"1e+-3", "1ee3", "1e3e3", "1e3m",
	"1e3.5", "1.2.3", "1..2", "..", "--1", "++1", "+-1", "-+1", "1-", "1+", "1-1", "1+3", "1m3", "1e1_0", "1µ", "½",
	"١", "1e٣",
}

func quantityOf(in string) any {
	q, err := resource.ParseQuantity(in)
	if err != nil {
		return quantityRow{In: in, Error: err.Error()}
	}
	row := quantityRow{In: in, Canonical: canonical(q), Exact: exactIfLost(q), Format: string(q.Format)}
	if echo := q.String(); echo != row.Canonical {
		row.Echo = echo
	}
	row.Value, row.ExactValue = scaled(q, 0, q.Value())
	row.Milli, row.ExactMilli = scaled(q, 3, q.MilliValue())
	return row
}

// The canonical form, never the remembered input.
func canonical(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

// False for the exponents that no computer can write out.
func handy(d *inf.Dec) bool { return d.Sign() == 0 || (d.Scale() > -100 && d.Scale() < 100) }

func exactIfLost(q resource.Quantity) string {
	q = q.DeepCopy()
	exact := q.AsDec()
	if !handy(exact) {
		return ""
	}
	if back, err := resource.ParseQuantity(canonical(q)); err == nil && back.Cmp(q) == 0 {
		return ""
	}
	return exact.String()
}

// `answer` is what apimachinery gave for q*10^places: as it is or "overflow", and the right number where that differs.
func scaled(q resource.Quantity, places inf.Scale, answer int64) (given, right any) {
	q = q.DeepCopy()
	exact := new(inf.Dec).Set(q.AsDec())
	if !handy(exact) {
		return "overflow", nil
	}
	exact.SetScale(exact.Scale() - places)
	exact.Round(exact, 0, inf.RoundUp)
	if !new(big.Int).Set(exact.UnscaledBig()).IsInt64() {
		return "overflow", nil
	}
	if number := exact.UnscaledBig().Int64(); number != answer {
		return answer, number
	}
	return answer, nil
}

type pairRow struct {
	A               string `json:"a"`
	B               string `json:"b"`
	Sum             string `json:"sum"` // canonical
	ExactSum        string `json:"exactSum,omitempty"`
	Difference      string `json:"difference"`
	ExactDifference string `json:"exactDifference,omitempty"`
	Order           int    `json:"order"`
}

func quantityPairs() []any {
	operands := []string{
		"0", "0Ki", "1", "-1", "1n", "100m", "1500m", "1.5Ki", "0.3Ki", "1Ki", "1023", "1025", "-1Ki", "1Gi", "1G",
		"1e3", "1e-3",
		"7Ei", "9223372036854775807", "-9223372036854775807", "10E", "1e20", "123456789012345678901.5",
	}
	var rows []any
	for _, left := range operands {
		for _, right := range operands {
			a, b := resource.MustParse(left), resource.MustParse(right)
			sum, difference := a.DeepCopy(), a.DeepCopy()
			sum.Add(b)
			difference.Sub(b)
			rows = append(rows, pairRow{
				A: left, B: right, Order: a.Cmp(b),
				Sum: canonical(sum), ExactSum: exactIfLost(sum),
				Difference: canonical(difference), ExactDifference: exactIfLost(difference),
			})
		}
	}
	return rows
}
