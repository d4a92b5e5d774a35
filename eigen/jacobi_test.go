package eigen_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve"
)

func ExampleGaussGenLaguerre() {
	x, w, err := eigen.GaussGenLaguerre(3, halfulp.Float(0.5), halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	fmt.Println(w)
	// Output:
	// 0.6663259077023708
	// 2.8007750541502565
	// 7.032899038147373
	// 0.5671862778403113
	// 0.3053717688445466
	// 0.01366887876790013
}

func ExampleGaussJacobi() {
	x, w, err := eigen.GaussJacobi(2, halfulp.Float(1), halfulp.Float(0), halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	fmt.Println(w)
	// Output:
	// -0.6898979485566357
	// 0.28989794855663564
	// 1.2721655269759087
	// 0.7278344730240913
}

func ExampleGaussGegenbauer() {
	x, w, err := eigen.GaussGegenbauer(3, halfulp.Float(1.5), halfulp.Float64, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	fmt.Println(w)
	// Output:
	// -0.6546536707079772
	// 0
	// 0.6546536707079772
	// 0.3111111111111111
	// 0.7111111111111111
	// 0.3111111111111111
}

// masses are integrals of weight functions, from mpmath 1.3: x^α exp(-x) if β is NaN.
var masses = []struct {
	alpha, beta float64
	digits      string
}{
	{-0.9375, math.NaN(), "15.4812810815923981561596207794469080266336336348979197834584167705183105802285701004615939324299268155899641350797839628987976571505382464166149739462615591144931122778725781514598347620545562337851994666928875635734961267146229221322323952815857387353810940340757210276412078702057885287156639011237491417000262728384312917395222189462660621990587966341656552"},
	{0.5, math.NaN(), "0.886226925452758013649083741670572591398774728061193564106903894926455642295516090687475328369272332708113411812141285333118076432862211301262546854801393534231018849326552561424962586514475413114466047689633981400087319507675739860258350095092617009292723487247456320156960887762953108202709666250453199203806866738737576716833994894682925918204397725582580869"},
	{0.1, math.NaN(), "0.951350769866873181391374449636079162923739190047321701300413605434971195672882075703615910532512618838448304675487954708459497332922205943137880355659031459786635109697452367401088771351663350095611471867416282356029076217812175936518367258492947686834599099835538595991908999471843399368067693765026776722908292772122905002153595235670083531629032913080538837"},
	{3, math.NaN(), "6.0"},
	{12.25, math.NaN(), "902965985.822931876362862161275116585242272076408400246524183111368497007862458805935660896088255342941363760249774578052369330357462309993555606521152965926157264148113073278449923831170559809373011371090884703158609554977041097839494105069755368041043790528394712805801016803998599098017969478788056014160986675000878550715885343531139043515312696540282427518"},
	{0.5, 1, "1.50849446653130138538846797249034461714098333373541127805512505385678131035958084144041336994948434425068143597963978349325315845957411969348706293023993155350743751032267263227285328053456296753127623478353063637970162617023665281571041857988361514518352248451251659596194288089574677720319493483518899973695631608726275161666198960890922139172880030694395918"},
	{-0.75, 0.3, "5.35957568735721934083094224752043989519221565952303348702704307842699935586988487640132396161289641727742416397380897192863750332282413439635572100160250294454671656812098718365196749595886690430401956107334660094309595732515557382389465955030004726612385349286580610799940060214806822608965736218684472674018448711552553969835958204613298806223678003599420121"},
	{2, 1, "1.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333"},
	{1, 1, "1.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333"},
	{-0.9, -0.9, "11.3230869752157559548809108990077018370939290765966283668498426055367149385244534534039886400651554599672561767368174465526545409991152481785510083705457897532892631810977674219856992865807758628174151035409155357472687548991567198562286617500283630961856873115427693455562337487413783422977775794984022838363071267563278499139353949594495507004009801639460791"},
	{0.25, 0.25, "1.74803836952807987364322639326074627578850330095441544187788113586719372471360950015353035530761939563075716844785547870373930460092929046313407962318349056028176099810993796795793331995476404825541426054013748126495306723770302651487024636647352592555035099134755267473169388875237900781983481947619779495367597897097035962192094358755449007227281754142165111"},
	{7.5, -0.5, "157.938661920705621011774298214090633279756133476396921546670066027349988862904335204464094539660338534883772943070090963078506953612953098915255373369584187428067017194429487369642783696474035351382874539839051784455325983099537471753265231785313939729314441626191151119595887437353540530177497681438253263417089934693827385645211924967236328751471638338975148"},
	{-0.5, 0.5, "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196442881097566593344612847564823378678316527120190914564856692346034861045432664821339360726024914127372458700660631558817488152092096282925409171536436789259036"},
}

// exponentOracles are the rules for masses. Recurrences and derivatives: NIST Handbook, sections
// 18.9 and 3.5.
func exponentOracles(t *testing.T) (list []ruleOracle) {
	for _, c := range masses {
		mass, _, err := big.ParseFloat(c.digits, 10, oracleBits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		a, b := calc().SetFloat64(c.alpha), calc()
		plus := func(x *big.Float, k int64) *big.Float { return calc().Add(x, num(k)) }
		mul := func(x ...*big.Float) *big.Float {
			z := num(1)
			for _, y := range x {
				z.Mul(z, y)
			}
			return z
		}
		if math.IsNaN(c.beta) {
			list = append(list, ruleOracle{
				fmt.Sprintf("Laguerre %v", c.alpha),
				func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error) {
					return eigen.GaussGenLaguerre(n, halfulp.Float(c.alpha), f, opt)
				},
				func(k int64, x, p, before *big.Float) *big.Float {
					z := mul(calc().Sub(plus(a, 2*k+1), x), p)
					return z.Quo(z.Sub(z, mul(plus(a, k), before)), num(k+1))
				},
				func(n int64, x, p, before *big.Float) *big.Float {
					z := mul(num(n), p)
					return z.Quo(z.Sub(z, mul(plus(a, n), before)), x)
				},
				func(n int64, x, _, derivative *big.Float) *big.Float {
					z := mul(mass)
					for j := int64(1); j <= n; j++ {
						z.Quo(z.Mul(z, plus(a, j)), num(j))
					}
					return z.Quo(z, mul(x, derivative, derivative))
				},
			})
			continue
		}
		b.SetFloat64(c.beta)
		s := calc().Add(a, b)
		squares := calc().Sub(mul(a, a), mul(b, b))
		list = append(list, ruleOracle{
			fmt.Sprintf("Jacobi %v %v", c.alpha, c.beta),
			func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error) {
				return eigen.GaussJacobi(n, halfulp.Float(c.alpha), halfulp.Float(c.beta), f, opt)
			},
			func(k int64, x, p, before *big.Float) *big.Float {
				if k == 0 {
					z := mul(plus(s, 2), plus(x, -1))
					return z.Add(z.SetMantExp(z, -1), plus(a, 1))
				}
				d := plus(s, 2*k)
				z := mul(d, plus(d, 2), x)
				z = mul(z.Add(z, squares), plus(d, 1), p)
				z.Sub(z, mul(num(2), plus(a, k), plus(b, k), plus(d, 2), before))
				return z.Quo(z, mul(num(2), num(k+1), plus(s, k+1), d))
			},
			func(n int64, x, p, before *big.Float) *big.Float {
				d := plus(s, 2*n)
				z := calc().Sub(a, b)
				z = mul(num(n), z.Sub(z, mul(d, x)), p)
				z.Add(z, mul(num(2), plus(a, n), plus(b, n), before))
				if n == 1 {
					return mul(plus(s, 2), big.NewFloat(0.5))
				}
				return z.Quo(z, mul(d, calc().Sub(num(1), mul(x, x))))
			},
			func(n int64, x, _, derivative *big.Float) *big.Float {
				z := mul(mass)
				for j := int64(1); j <= n; j++ {
					z.Quo(mul(z, plus(a, j), plus(b, j)), num(j))
					if j > 1 {
						z.Quo(z, plus(s, j))
					}
				}
				return z.Quo(z, mul(calc().Sub(num(1), mul(x, x)), derivative, derivative))
			},
		})
	}
	return list
}

// TestGaussExponents compares rules for weight functions with exponents with other formulas.
func TestGaussExponents(t *testing.T) {
	for _, o := range exponentOracles(t) {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= testlength.Of(4, 5, 40); n++ {
				for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(14), halfulp.MP(120)} {
					o.check(t, n, f)
				}
			}
			o.check(t, testlength.Of(11, 15, 101), halfulp.Float64)
		})
	}
}

// TestGaussTies has nodes and weights halfway between two numbers of the format.
func TestGaussTies(t *testing.T) {
	for _, c := range []struct {
		alpha, beta float64 // β < -1: Laguerre
		n, bits     int
		x, w        []float64
	}{
		{4, -2, 1, 2, []float64{4}, []float64{24}},   // x = 5, w = 4!
		{4.5, -2, 1, 3, []float64{6}, nil},           // x = 5.5
		{5, -2, 1, 3, []float64{6}, []float64{128}},  // w = 5! = 120 = 15 · 8
		{0, 6, 1, 2, []float64{0.75}, []float64{16}}, // x = 3/4, w = 2^7/7
		{0, 14, 1, 2, []float64{1}, nil},             // x = 7/8
		{14, 0, 1, 2, []float64{-1}, nil},            // x = -7/8
		{1, 1, 3, 53, nil, nil},                      // the node 0
	} {
		var st halfulp.Stats
		opt := &halfulp.Options{Stats: &st}
		f := halfulp.MP(uint(c.bits))
		var x, w *halfulp.Vector
		var err error
		if c.beta < -1 {
			x, w, err = eigen.GaussGenLaguerre(c.n, halfulp.Float(c.alpha), f, opt)
		} else {
			x, w, err = eigen.GaussJacobi(c.n, halfulp.Float(c.alpha), halfulp.Float(c.beta), f, opt)
		}
		if err != nil || st.Undecided != 0 {
			t.Fatal(c, err, st.Undecided)
		}
		for i, v := range c.x {
			if x.Float64(i) != v {
				t.Errorf("%v: node %v", c, x)
			}
		}
		for i, v := range c.w {
			if w.Float64(i) != v {
				t.Errorf("%v: weight %v", c, w)
			}
		}
	}
	// A node 0 that symmetry does not explain: P_2 is 0 at 0 if (α - β)² = α + β + 4.
	for _, c := range [][2]float64{{4, 1}, {1, 4}} {
		var st halfulp.Stats
		x, w, err := eigen.GaussJacobi(2, halfulp.Float(c[0]), halfulp.Float(c[1]), halfulp.Float64, &halfulp.Options{Stats: &st})
		if err != nil || st.Undecided != 0 {
			t.Fatal(err, st.Undecided)
		}
		// The other node is a_0 + a_1 = ±2/3. The weights have the sum μ = 2^6 4! 1! / 6!, and Σ w
		// x = μ a_0 with a_0 = ±3/7.
		i, sign := 0, -1.0
		if c[0] < c[1] {
			i, sign = 1, 1
		}
		mu := 64 * 24.0 / 720
		other := mu * (3.0 / 7) / (2.0 / 3)
		if x.Float64(1-i) != 0 || x.At(1-i).Signbit() || x.Float64(i) != sign*2/3 || math.Abs(w.Float64(i)-other) > 1e-15 || math.Abs(w.Float64(1-i)-mu+other) > 1e-15 {
			t.Errorf("%v: %v %v, want weights %v %v", c, x, w, other, mu-other)
		}
	}
}

// TestGaussGegenbauer compares with the rule of Jacobi for α - 1/2.
func TestGaussGegenbauer(t *testing.T) {
	for _, c := range []float64{-0.25, 0, 0.5, 3.125} {
		x, w, err := eigen.GaussGegenbauer(5, halfulp.Float(c), halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := halfulp.Float(c - 0.5)
		y, v, err := eigen.GaussJacobi(5, a, a, halfulp.Float64, nil)
		if err != nil || !x.Same(y) || !w.Same(v) {
			t.Error(c, err, y, v)
		}
	}
	if _, _, err := eigen.GaussGegenbauer(5, halfulp.Float(-0.5), halfulp.Float64, nil); !errors.Is(err, eigen.ErrWeightExponent) {
		t.Error(err)
	}
}

// TestGaussDispatch requires the bits of the special rules.
func TestGaussDispatch(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		run   func(n int, f halfulp.Format, opt *halfulp.Options) (x, w *halfulp.Vector, err error)
	}{{0, eigen.GaussLegendre}, {-0.5, eigen.GaussChebyshev1}, {0.5, eigen.GaussChebyshev2}} {
		x, w, err := c.run(7, halfulp.QD, nil)
		if err != nil {
			t.Fatal(err)
		}
		y, v, err := eigen.GaussJacobi(7, halfulp.Float(c.alpha), halfulp.Float(c.alpha), halfulp.QD, nil)
		if err != nil || !x.Same(y) || !w.Same(v) {
			t.Error(c.alpha, err, y, v)
		}
	}
}

func TestGaussExponentErrors(t *testing.T) {
	fine := halfulp.Float(1)
	for _, c := range []struct {
		x    float64
		want error
	}{{-1, eigen.ErrWeightExponent}, {math.NaN(), eigen.ErrWeightExponent}, {math.Inf(1), eigen.ErrWeightExponent}, {1e7, linsolve.ErrRange}, {-1 + 0x1p-53, nil}} {
		x := halfulp.Float(c.x)
		_, _, err := eigen.GaussGenLaguerre(3, x, halfulp.Float64, nil)
		_, _, err1 := eigen.GaussJacobi(3, x, fine, halfulp.Float64, nil)
		_, _, err2 := eigen.GaussJacobi(3, fine, x, halfulp.Float64, nil)
		for _, err := range []error{err, err1, err2} {
			if !errors.Is(err, c.want) {
				t.Errorf("%v: %v", c.x, err)
			}
		}
	}
}
