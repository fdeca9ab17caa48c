package cuda
import ("testing";"jitcache/core/key";"encoding/binary")
func part(l byte,s string)[]byte{return append(binary.LittleEndian.AppendUint64([]byte{l},uint64(len(s))),s...)}
func BenchmarkKeyFresh(b *testing.B){
 src:=[]byte("extern \"C\" __global__ void k(float*x){x[threadIdx.x]*=2;}")
 parts:=append(part('o',"-arch=sm_80"),part('n',"/tmp/cuda13/nvidia/cu13/lib/libnvrtc.so.13")...)
 b.ReportAllocs()
 i:=0
 for b.Loop(){ i++; r:=&Request{Source:src,Parts:parts,SourceDigest:key.Sum(binary.LittleEndian.AppendUint64(nil,uint64(i))),PartsDigest:key.Sum(parts)}; if _,err:=r.Key(nil);err!=nil{b.Fatal(err)} }
}
func BenchmarkKeySame(b *testing.B){
 src:=[]byte("extern \"C\" __global__ void k(float*x){x[threadIdx.x]*=2;}")
 parts:=append(part('o',"-arch=sm_80"),part('n',"/tmp/cuda13/nvidia/cu13/lib/libnvrtc.so.13")...)
 b.ReportAllocs()
 r:=&Request{Source:src,Parts:parts,SourceDigest:key.Sum(nil),PartsDigest:key.Sum(parts)}
 for b.Loop(){ if _,err:=r.Key(nil);err!=nil{b.Fatal(err)} }
}
