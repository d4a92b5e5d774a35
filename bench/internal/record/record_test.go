package record

import "testing"

func TestText(t *testing.T) {
	type pair struct {
		A int     `json:"a"`
		B float64 `json:"b"`
	}
	for _, c := range []struct {
		r    any
		want string
	}{
		{struct {
			Name  string `json:"name"`
			Pairs []pair `json:"pairs"`
			List  []int  `json:"list"`
		}{"n\n", []pair{{1, 0.5}, {2, 0}}, []int{1, 2}},
			"{\n\t\"name\": \"n\\n\",\n\t\"pairs\": [\n\t\t{\"a\":1,\"b\":0.5},\n\t\t{\"a\":2,\"b\":0}\n\t],\n\t\"list\": [1,2]\n}\n"},
		{struct {
			One []pair `json:"one"`
		}{[]pair{{}}}, "{\n\t\"one\": [\n\t\t{\"a\":0,\"b\":0}\n\t]\n}\n"},
		{struct{}{}, "{\n}\n"},
	} {
		if got, err := Text(c.r); err != nil || string(got) != c.want {
			t.Errorf("Text(%v) = %q, %v; want %q", c.r, got, err, c.want)
		}
	}
	if _, err := Text(func() {}); err == nil {
		t.Error("no error of a function")
	}
}
