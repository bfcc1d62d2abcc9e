// Writes node.txt: node table.js > node.txt, with Node 20. A line is a function, its arguments and its result, as the bits of
// float64 in hex. The arguments are drawn from a fixed seed, with those that are at the edges.
const fns1=['acos','acosh','asin','asinh','atan','atanh','cbrt','cos','cosh','exp','expm1','log','log10','log1p','log2','sin','sinh','tan','tanh'];
let seed=20n; const M=(1n<<64n)-1n;
function r64(){ seed=(seed+0x9E3779B97F4A7C15n)&M; let z=seed; z=((z^(z>>30n))*0xBF58476D1CE4E5B9n)&M; z=((z^(z>>27n))*0x94D049BB133111EBn)&M; return z^(z>>31n); }
const b=new DataView(new ArrayBuffer(8));
const bits=x=>{b.setFloat64(0,x);return b.getBigUint64(0)};
const hex=x=>isNaN(x)?'NaN':bits(x).toString(16);
function rnd(){ return Number(r64()>>11n)/2**53 }
function num(kind){ const s=r64()&1n?1:-1; switch(kind){
 case 0: b.setBigUint64(0,r64()); return b.getFloat64(0);
 case 1: return s*rnd(); case 2: return s*rnd()*10; case 3: return s*rnd()*1000; case 4: return s*rnd()*1e6;
 case 5: return s*Math.round(rnd()*100)/ [1,2,4,10,100][Number(r64()%5n)]; case 6: return 1+s*rnd()*2**-Math.floor(rnd()*40);
 case 7: return s*rnd()*2**-Math.floor(rnd()*60); case 8: return s*2**(rnd()*80); } }
const N=50, out=[], edges=[0,-0,1,-1,0.5,-0.5,2,-2,Infinity,-Infinity,NaN,5e-324,-5e-324,2**-1022,Number.MAX_VALUE,-Number.MAX_VALUE,1e15,1e22,Math.PI,Math.PI/2,Math.PI/4,-Math.PI/4,3*Math.PI/4,22,710,-745.2,709.79,2**53,2**-28,1e300];
for(const f of fns1) for(const x of edges) out.push(f+' '+hex(x)+' '+hex(Math[f](x)));
for(const x of edges) for(const y of [0,-0,1,-1,0.5,-0.5,2,-3,1e10,2**33+1,Infinity,-Infinity,NaN]) { out.push('pow '+hex(x)+' '+hex(y)+' '+hex(Math.pow(x,y)));
 if (Math.abs(y)<1e9 || isNaN(y) || !isFinite(y)) out.push('atan2 '+hex(y)+' '+hex(x)+' '+hex(Math.atan2(y,x))); }
for(let y=-330;y<=310;y+=10) out.push('pow '+hex(10)+' '+hex(y)+' '+hex(10**y));
for(const [x,y] of [[1.0001,10000],[1+0.05/12,120],[1-2**-22,2**32],[1+2**-22,-(2**33)],[99,99],[3,40],[7,22]]) out.push('pow '+hex(x)+' '+hex(y)+' '+hex(x**y));

for(const f of fns1) for(let i=0;i<N;i++){ let x=num(i%9); if(/^log|acosh/.test(f)&&f!='log1p') x=Math.abs(x); out.push(f+' '+hex(x)+' '+hex(Math[f](x))); }
for(let i=0;i<3*N;i++){ let x=num(i%9),y=num((i*7+Math.floor(i/9))%9); out.push('atan2 '+hex(x)+' '+hex(y)+' '+hex(Math.atan2(x,y)));
 let bx=i%4?Math.abs(num((i+1)%9)):num(5), py=i%3==0?num(5):i%3==1?num(i%9):s2(bx); if(i%5==0){bx=1+rnd()/100;py=Math.round(rnd()*400)/ (i%2?1:12)} out.push('pow '+hex(bx)+' '+hex(py)+' '+hex(Math.pow(bx,py))); }
function s2(x){ const l=Math.abs(Math.log2(Math.abs(x)))||1; return (rnd()*2-1)*1080/l }
console.log(out.join('\n'));
