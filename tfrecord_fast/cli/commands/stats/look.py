"""How the page looks, and the little that its script does: sorting, filtering. Without the script all is there, too.

Colours: every text has a contrast of 4.5 to 1 or more on what is behind it, in both schemes.
"""

from __future__ import annotations

import base64
import hashlib

__all__ = ["POLICY", "SCRIPT", "STYLE"]

STYLE = """
:root{--page:#f6f7f9;--card:#fff;--line:#d9dde3;--text:#1c2430;--soft:#566070;--bar:#3b6fb6;--bar2:#c2410c;
--track:#e8ecf2;--link:#1d4f91;--bad:#b42318;--good:#17663a;--chip:#eef2f8;--focus:#b45309;color-scheme:light}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b212a;--line:#323b48;--text:#e7ebf0;--soft:#a3adbb;
--bar:#6ea0e6;--bar2:#fb9a5b;--track:#2a3340;--link:#9dc1f5;--bad:#ff9a8f;--good:#7fd6a2;--chip:#27303c;
--focus:#fbbf24;color-scheme:dark}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
font-variant-numeric:tabular-nums}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999px;top:0;background:var(--card);padding:.6rem 1rem;z-index:9}
.skip:focus{left:.5rem;top:.5rem}
header,main,footer{max-width:1320px;margin:0 auto;padding:0 clamp(.9rem,3vw,2rem)}
header{padding-top:1.6rem}
h1{font-size:1.5rem;line-height:1.25;margin:0;overflow-wrap:anywhere;letter-spacing:-.01em}
h2{font-size:1.15rem;margin:2.4rem 0 .8rem;letter-spacing:-.005em}
h3{font-size:1rem;margin:0;overflow-wrap:anywhere;font-weight:650}
h4{font-size:.8rem;margin:.9rem 0 .25rem;color:var(--soft);font-weight:600}
p{margin:.5rem 0}.soft,caption{color:var(--soft)}.bad{color:var(--bad)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin:.9rem 0 0;padding:0}
.totals{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.7rem;margin:1.2rem 0 0}
.totals div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.7rem .9rem}
.totals dt{color:var(--soft);font-size:.82rem}.totals dd{margin:0;font-size:1.3rem;font-weight:650;line-height:1.3;
overflow-wrap:anywhere}
.totals dd small{display:block;font-size:.82rem;font-weight:400;color:var(--soft)}
.tools{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;align-items:end;margin:0 0 1rem}
.tools label{display:grid;gap:.15rem;font-size:.82rem;color:var(--soft)}
.tools input,.tools select{font:inherit;color:var(--text);background:var(--card);border:1px solid var(--soft);
border-radius:7px;padding:.4rem .6rem;min-width:12rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19.5rem),1fr));gap:.9rem;
list-style:none;margin:0;padding:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.9rem 1rem 1rem;min-width:0}
.card .head{display:flex;justify-content:space-between;gap:.6rem;align-items:baseline}
.chip{background:var(--chip);border-radius:99px;padding:.05rem .6rem;font-size:.78rem;white-space:nowrap}
.chip.warn{color:var(--bad);font-weight:600}
.chips{display:flex;flex-wrap:wrap;gap:.3rem;margin:.35rem 0 .5rem}
svg.plot{display:block;width:100%;height:84px;margin:.4rem 0 0;overflow:visible}
svg .a{fill:var(--bar)}svg .b{fill:none;stroke:var(--bar2);stroke-width:2;vector-effect:non-scaling-stroke}
svg .base{stroke:var(--soft);stroke-width:1;vector-effect:non-scaling-stroke}
svg g:hover .a{opacity:.7}svg .hit{fill:transparent}
.axis{display:flex;justify-content:space-between;gap:.5rem;font-size:.78rem;color:var(--soft);margin-top:.1rem}
dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(6.2rem,1fr));gap:.35rem .8rem;margin:.7rem 0 0}
dl.facts.wide{grid-template-columns:repeat(auto-fit,minmax(8.4rem,1fr))}
dl.facts div{min-width:0}dl.facts dt{font-size:.76rem;color:var(--soft)}dl.facts dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem .3rem 0;vertical-align:top;border-bottom:1px solid var(--line)}
thead th{font-size:.8rem;color:var(--soft);font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;padding:.3rem .3rem .3rem .9rem;white-space:nowrap}
td.n+td:not(.n),th.n+th:not(.n){padding-left:1.2rem}
th[scope=row]{font-weight:400;overflow-wrap:anywhere}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-decoration:underline dotted}
caption{text-align:left;font-size:.82rem;padding-bottom:.3rem}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.6rem 1rem}
.top{font-size:.86rem}.top td,.top th{border:0;padding:.12rem .4rem .12rem 0}.top thead th{font-size:.74rem}
.top th{position:relative;z-index:0;width:99%}
.top th i{position:absolute;z-index:-1;left:-.3rem;top:1px;bottom:1px;background:var(--track);border-radius:3px}
.wall{display:grid;grid-template-columns:repeat(auto-fill,minmax(104px,1fr));gap:.6rem;list-style:none;padding:0;margin:0}
.wall figure,.record figure{margin:0}.wall img{width:100%;aspect-ratio:1;object-fit:cover;border-radius:8px;
background:var(--track);display:block}
.wall figcaption{font-size:.74rem;color:var(--soft);overflow-wrap:anywhere;line-height:1.3;margin-top:.2rem}
details{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:.5rem 0;padding:.5rem .9rem}
summary{cursor:pointer;overflow-wrap:anywhere}details[open]>summary{margin-bottom:.5rem}
.card details{border:0;padding:0;margin:.6rem 0 0;background:none}.card summary{font-size:.82rem;color:var(--soft)}
.record td{overflow-wrap:anywhere}.record img{height:96px;width:auto;max-width:100%;border-radius:6px;display:block}
pre{overflow-x:auto;font-size:.82rem;margin:.3rem 0}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;background:var(--bar);margin-right:.35em}
.key.two{background:none;border:2px solid var(--bar2)}
.meter{display:inline-block;width:5.5rem;height:.6em;background:var(--track);border-radius:3px;vertical-align:baseline}
.meter b{display:block;height:100%;background:var(--bar);border-radius:3px}.meter b.much{background:var(--bad)}
footer{padding-top:2rem;padding-bottom:3rem;font-size:.86rem}
footer dt{font-weight:600;margin-top:.6rem}footer dd{margin:0;color:var(--soft);max-width:75ch}
[hidden]{display:none!important}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:600px){body{font-size:14.5px}.tools label,.tools input,.tools select{width:100%}
.totals{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media print{.tools,.skip,nav{display:none}.card{break-inside:avoid}}
"""

SCRIPT = """
(function(){
var list=document.getElementById('cards'),filter=document.getElementById('filter'),sort=document.getElementById('sort');
var told=document.getElementById('told');
if(list&&filter){
 var cards=Array.prototype.slice.call(list.children);
 cards.forEach(function(c,i){c.dataset.order=i});
 function show(){
  var text=filter.value.toLowerCase(),n=0;
  cards.forEach(function(c){var on=c.dataset.name.toLowerCase().indexOf(text)>=0;c.hidden=!on;n+=on});
  told.textContent=n+' of '+cards.length+' features are shown';
 }
 function order(){
  var by=sort.value;
  cards.sort(function(a,b){
   if(by==='name')return a.dataset.name<b.dataset.name?-1:a.dataset.name>b.dataset.name?1:0;
   return b.dataset[by]-a.dataset[by]||a.dataset.order-b.dataset.order});
  cards.forEach(function(c){list.appendChild(c)});
 }
 filter.addEventListener('input',show);sort.addEventListener('change',order);
 document.getElementById('tools').hidden=false;
}
Array.prototype.forEach.call(document.querySelectorAll('table.sortable'),function(table){
 var body=table.tBodies[0];
 Array.prototype.forEach.call(table.tHead.rows[0].cells,function(head,column){
  var button=document.createElement('button');
  button.type='button';button.textContent=head.textContent;head.textContent='';head.appendChild(button);
  button.addEventListener('click',function(){
   var down=head.getAttribute('aria-sort')==='descending';
   Array.prototype.forEach.call(table.tHead.rows[0].cells,function(one){one.removeAttribute('aria-sort')});
   head.setAttribute('aria-sort',down?'ascending':'descending');
   Array.prototype.slice.call(body.rows).sort(function(a,b){
    var x=a.cells[column],y=b.cells[column],p=x.dataset.v,q=y.dataset.v;
    var d=p!==undefined&&q!==undefined?p-q:x.textContent<y.textContent?-1:x.textContent>y.textContent?1:0;
    return down?d:-d}).forEach(function(row){body.appendChild(row)});
  });
 });
});
})();
"""

# Nothing is fetched, and no script runs but this one: whatever the records hold.
_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'; base-uri 'none'; "
    "form-action 'none'"
)
