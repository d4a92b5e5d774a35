package linsolve
import ("testing";"fmt";"math";"syscall";"os";"strconv";"runtime/pprof"
"github.com/halfulp/halfulp")
func cpu() float64 { var u syscall.Rusage; syscall.Getrusage(0,&u); return float64(u.Utime.Sec+u.Stime.Sec)+1e-6*float64(u.Utime.Usec+u.Stime.Usec)}
func TestZZ(t *testing.T){
 n,_:=strconv.Atoi(os.Getenv("N")); bits,_:=strconv.Atoi(os.Getenv("B")); kappa,_:=strconv.ParseFloat(os.Getenv("K"),64)
 if n==0 {t.Skip()}
 reps,_:=strconv.Atoi(os.Getenv("R"))
 f:=halfulp.Format(halfulp.Float64); if bits!=53 {f=halfulp.MP(uint(bits))}
 a,b:=halfulp.Random(f,n,n,0,1),halfulp.Random(f,n,1,0,2)
 if kappa>0 {
  l:=halfulp.NewMatrix(halfulp.MP(uint(bits)+53),n,n)
  for j:=range n { d:=math.Exp(-math.Log(kappa)*float64(j)/float64(n-1)); for i:=range n { x:=a.Big(i,j); l.SetBig(i,j,x.SetPrec(uint(bits)+53).Mul(x,halfulp.Float(d).Big()))}}
  halfulp.GemmTo(halfulp.NoTrans,halfulp.NoTrans,halfulp.Float(1),l,halfulp.Random(f,n,n,0,3),halfulp.Float(0),nil,a,nil)
 }
 x:=halfulp.NewMatrix(f,n,1); o:=&halfulp.Options{Threads:1}
 if p:=os.Getenv("PROF"); p!="" { fh,_:=os.Create(p); pprof.StartCPUProfile(fh); defer pprof.StopCPUProfile()}
 for range reps { s:=cpu(); st,err:=Solve(a,b,x,o); fmt.Printf("%.2f ms %v %+v %v\n",1e3*(cpu()-s),err,st.Proof,st.Stages)}
}
