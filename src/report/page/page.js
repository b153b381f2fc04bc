"use strict";
(() => {
  const cards = [...document.querySelectorAll(".card")];
  const filter = document.getElementById("filter");
  const buttons = [...filter.querySelectorAll("[data-patch]")];
  const count = document.getElementById("count");
  const rowsOf = new Map();
  for (const row of document.querySelectorAll("tr[data-of]"))
    for (const id of row.dataset.of.split(" "))
      if (!rowsOf.get(id)?.push(row)) rowsOf.set(id, [row]);
  const shown = () => cards.filter((card) => !card.hidden);

  function show(patch) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.patch === patch));
    const wanted = new Set();
    for (const card of cards) {
      card.hidden = patch !== "all" && card.dataset.patch !== patch;
      if (!card.hidden) wanted.add(card.id);
    }
    for (const reasons of document.querySelectorAll(".reasons"))
      reasons.hidden = document.getElementById(reasons.dataset.card)?.hidden ?? false;
    for (const row of document.querySelectorAll("tr[data-of]"))
      row.classList.toggle("out", !row.dataset.of.split(" ").some((id) => wanted.has(id)));
    for (const block of document.querySelectorAll(".block")) {
      const all = [...block.querySelectorAll(".card")];
      const rows = [...block.querySelectorAll("tr[data-of]")];
      block.hidden = patch !== "all" && !all.some((card) => !card.hidden) && rows.every((row) => row.classList.contains("out"));
    }
    for (const section of document.querySelectorAll("section.document"))
      section.hidden = patch !== "all" && ![...section.querySelectorAll(".card")].some((card) => !card.hidden);
    count.textContent = `${shown().length} of ${cards.length} departures`;
  }

  function light(id, on) {
    for (const row of rowsOf.get(id) ?? []) row.classList.toggle("lit", on);
    document.getElementById(id)?.classList.toggle("lit", on);
  }

  function arrive() {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const card = id && document.getElementById(id);
    if (!card || !card.classList.contains("card")) return;
    if (card.hidden) show("all");
    for (const other of document.querySelectorAll(".arrived")) other.classList.remove("arrived");
    card.classList.add("arrived");
    for (const row of rowsOf.get(id) ?? []) row.classList.add("arrived");
    (card.closest(".block") ?? card).scrollIntoView({ block: "start" });
    card.focus({ preventScroll: true });
  }

  function step(by) {
    const all = shown();
    if (all.length === 0) return;
    const at = all.findIndex((card) => card.classList.contains("arrived"));
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
    const hash = `#${encodeURIComponent(all[next].id)}`;
    if (location.hash === hash) arrive();
    else location.hash = hash;
  }

  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.patch));
  for (const button of filter.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  const idsAt = (target) => {
    const at = target instanceof Element && target.closest(".card, tr[data-of]");
    return !at ? [] : at.id ? [at.id] : at.dataset.of.split(" ");
  };
  for (const [event, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]])
    document.addEventListener(event, ({ target }) => { for (const id of idsAt(target)) light(id, on); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  addEventListener("hashchange", arrive);
  filter.hidden = cards.length === 0;
  show("all");
  arrive();
})();
