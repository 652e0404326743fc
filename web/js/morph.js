/*
 * morph.js - what is there becomes what is wanted, in place.
 *
 * An element that stays is the same element: it keeps the focus, its scroll position, what is
 * selected in it. Elements with a data-key are told apart by it, others by where they stand. The
 * one with the focus is never moved: the others go around it, for a move would take the focus away.
 */

const arrange = (parent, nodes) => {
  const there = new Set(nodes);
  const wanted = [...there];
  [...parent.childNodes].forEach((node) => there.has(node) || node.remove());
  if (!wanted.length) return;
  const held = wanted.findIndex((node) => node.parentNode === parent && node.contains(document.activeElement));
  const pivot = Math.max(held, 0);
  if (wanted[pivot].parentNode !== parent) parent.prepend(wanted[pivot]);
  for (let i = pivot - 1; i >= 0; i--) {
    if (wanted[i].nextSibling !== wanted[i + 1]) parent.insertBefore(wanted[i], wanted[i + 1]);
  }
  for (let i = pivot + 1; i < wanted.length; i++) {
    if (wanted[i].previousSibling !== wanted[i - 1]) wanted[i - 1].after(wanted[i]);
  }
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
