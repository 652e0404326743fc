/*
 * morph.js - what is there becomes what is wanted, in place.
 *
 * An element that stays is the same element: it keeps the focus, its scroll position, what is
 * selected in it. Elements with a data-key are told apart by it, others by where they stand. The
 * one with the focus is never moved: the others go around it, for a move would take the focus away.
 */

/*
 * What may stay where it is: the longest row of nodes that are in the wanted order already. To move
 * one costs as much as to make it. Whoever is on the wrong side of the held one has to move.
 */
const staying = (parent, wanted, held) => {
  const place = new Map([...parent.childNodes].map((node, i) => [node, i]));
  const isRight = (node, i) => place.has(node) && (held < 0 || Math.sign(i - held) === Math.sign(place.get(node) - place.get(wanted[held])));
  const ends = []; /* of the rows of 1, 2, 3 ... nodes those that end first */
  const before = new Map();
  wanted.filter(isRight).forEach((node) => {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      if (place.get(ends[middle]) < place.get(node)) low = middle + 1; else high = middle;
    }
    ends[low] = node;
    before.set(node, ends[low - 1]);
  });
  const stay = new Set();
  for (let node = ends.at(-1); node; node = before.get(node)) stay.add(node);
  return stay;
};

const arrange = (parent, nodes) => {
  const there = new Set(nodes);
  const wanted = [...there];
  [...parent.childNodes].forEach((node) => there.has(node) || node.remove());
  const held = wanted.findIndex((node) => node.parentNode === parent && node.contains(document.activeElement));
  const stay = staying(parent, wanted, held);
  wanted.reduceRight((next, node) => {
    if (!stay.has(node)) parent.insertBefore(node, next);
    return node;
  }, null);
};

/* The policy of the page forbids style attributes, and allows styles that a script sets. */
const KEPT = new Set(['style', 'open']); /* open: the reader's choice */

const takeAttributes = (node, wanted) => {
  for (const { name } of [...node.attributes]) {
    if (!KEPT.has(name) && !wanted.hasAttribute(name)) node.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) if (!KEPT.has(name)) setAttr(node, name, value);
  if (wanted.style && node.style.cssText !== wanted.style.cssText) node.style.cssText = wanted.style.cssText;
};

const keyOf = (node) => (node.dataset ? node.dataset.key : undefined);

const isSame = (node, wanted) => node.nodeName === wanted.nodeName && keyOf(node) === keyOf(wanted);

const morph = (node, wanted) => {
  if (node.isEqualNode(wanted)) return node;
  if (node.nodeType === Node.TEXT_NODE) {
    node.data = wanted.data;
    return node;
  }
  takeAttributes(node, wanted);
  fill(node, ...wanted.childNodes);
  return node;
};

/* Like replaceChildren, with as little as possible replaced. */
const fill = (parent, ...kids) => {
  const keyed = new Map([...parent.children].filter(keyOf).map((node) => [keyOf(node), node]));
  const old = [...parent.childNodes];
  const wanted = kids.map((kid, i) => {
    const next = typeof kid === 'string' ? document.createTextNode(kid) : kid;
    const found = keyOf(next) ? keyed.get(keyOf(next)) : old[i];
    keyed.delete(keyOf(next));
    return found && isSame(found, next) ? morph(found, next) : next;
  });
  arrange(parent, wanted);
};
