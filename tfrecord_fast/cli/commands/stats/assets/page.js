(function(){
var list=document.getElementById('cards'),filter=document.getElementById('filter'),sort=document.getElementById('sort');
var shown=document.getElementById('shown');
if(list&&filter){
 var cards=Array.prototype.slice.call(list.children);
 cards.forEach(function(c,i){c.dataset.order=i});
 function show(){
  var text=filter.value.toLowerCase(),n=0;
  cards.forEach(function(c){var on=c.dataset.name.toLowerCase().indexOf(text)>=0;c.hidden=!on;n+=on});
  shown.textContent=n+' of '+cards.length+' features shown';
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
   Array.prototype.forEach.call(table.tHead.rows[0].cells,function(cell){cell.removeAttribute('aria-sort')});
   head.setAttribute('aria-sort',down?'ascending':'descending');
   Array.prototype.slice.call(body.rows).sort(function(a,b){
    var x=a.cells[column],y=b.cells[column],p=x.dataset.v,q=y.dataset.v;
    var d=p!==undefined&&q!==undefined?p-q:x.textContent<y.textContent?-1:x.textContent>y.textContent?1:0;
    return down?d:-d}).forEach(function(row){body.appendChild(row)});
  });
 });
});
})();
