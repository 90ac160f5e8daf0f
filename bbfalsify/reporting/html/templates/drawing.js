// Drawings of machines: as wide as the page where that can be read, zoomed, dragged; and the arrows of one state alone.
"use strict";
const LEAST_LEGIBLE = 0.8;  // smaller letters are looked at on purpose only

class Drawing {
  constructor(frame, svg) {
    this.frame = frame; this.svg = svg; this.scale = 0;
    this.width = svg.viewBox.baseVal.width;
    const tools = make("div", {class: "tools"});
    for (const [text, name, action] of [
      ["−", "smaller", () => this.zoom(this.scale / 1.25)], ["+", "larger", () => this.zoom(this.scale * 1.25)],
      ["fit", "as wide as the page", () => this.zoom(this.fit())], ["1:1", "full size", () => this.zoom(1)]]) {
      const button = make("button", {type: "button", "aria-label": name, title: name}, text);
      button.addEventListener("click", action);
      tools.append(button);
    }
    tools.append(this.chooser());
    frame.before(tools);
    // What is folded away has no width yet.
    new ResizeObserver(() => { if (!this.scale && frame.clientWidth) this.zoom(Math.min(1, Math.max(this.fit(), LEAST_LEGIBLE))); })
      .observe(frame);
    this.listen();
  }

  fit() { return (this.frame.clientWidth - 2) / this.width; }

  // `at` stays where it is on the screen: by default the middle of what is seen.
  zoom(scale, at) {
    const frame = this.frame, before = this.scale || 1;
    this.scale = Math.min(4, Math.max(0.1, scale));
    const [x, y] = at || [frame.clientWidth / 2, frame.clientHeight / 2];
    const left = (frame.scrollLeft + x) / before, top = (frame.scrollTop + y) / before;
    this.svg.style.width = `${this.width * this.scale}px`;
    this.svg.style.height = "auto";
    frame.scrollLeft = left * this.scale - x; frame.scrollTop = top * this.scale - y;
  }

  chooser() {
    const states = Array.from(this.svg.querySelectorAll(".state"));
    const select = make("select", {}, make("option", {value: ""}, "all"),
      ...states.map(state => make("option", {value: state.dataset.state}, state.querySelector(".name").textContent)));
    this.look = chosen => {
      select.value = chosen;
      this.svg.classList.toggle("looking", chosen !== "");
      const near = new Set([chosen]);
      for (const arrow of this.svg.querySelectorAll(".arrow")) {
        const own = arrow.dataset.from === chosen || arrow.dataset.to === chosen;
        arrow.classList.toggle("far", !own);
        if (own) near.add(arrow.dataset.from).add(arrow.dataset.to);
      }
      for (const state of states) state.classList.toggle("far", !near.has(state.dataset.state));
    };
    select.addEventListener("change", () => this.look(select.value));
    for (const state of states) {
      state.addEventListener("click", () => this.look(select.value === state.dataset.state ? "" : state.dataset.state));
    }
    return make("label", {}, "arrows of ", select);
  }

  listen() {
    const frame = this.frame;
    frame.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = frame.getBoundingClientRect();
      this.zoom(this.scale * Math.exp(-event.deltaY / 400), [event.clientX - box.left, event.clientY - box.top]);
    }, {passive: false});
    frame.addEventListener("keydown", event => {
      const scale = {"+": this.scale * 1.25, "-": this.scale / 1.25, "0": this.fit(), "1": 1}[event.key];
      if (scale && !event.ctrlKey) { this.zoom(scale); event.preventDefault(); }
      if (event.key === "Escape") this.look("");
    });
    frame.addEventListener("pointerdown", event => {
      if (event.button !== 0 || event.pointerType === "touch") return;  // fingers scroll already
      const start = [event.clientX + frame.scrollLeft, event.clientY + frame.scrollTop];
      const move = moved => { frame.scrollLeft = start[0] - moved.clientX; frame.scrollTop = start[1] - moved.clientY; };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), {once: true});
    });
  }
}
document.querySelectorAll(".drawing").forEach(frame => {
  const svg = frame.querySelector("svg.machine");
  if (svg) new Drawing(frame, svg);
});

// Message sequence charts: to the beginning, to the end, and the rows of one process alone, without gaps.
document.querySelectorAll("[data-scroll]").forEach(button => button.addEventListener("click", () => {
  const frame = button.closest("details").querySelector(".drawing");
  frame.scrollTo({top: button.dataset.scroll === "end" ? frame.scrollHeight : 0, behavior: "smooth"});
}));
document.querySelectorAll("select[data-rows]").forEach(select => select.addEventListener("change", () => {
  const chart = select.closest("details").querySelector(".sequence");
  let place = 0;
  for (const row of chart.querySelectorAll(".row")) {
    const shown = !select.value || row.dataset.who.split(" | ").includes(select.value);
    row.style.display = shown ? "" : "none";
    if (shown) row.setAttribute("transform", `translate(0 ${chart.dataset.step * place++})`);
  }
  const svg = chart.querySelector(".row").ownerSVGElement, height = chart.dataset.step * place + 12;
  svg.setAttribute("height", height);
  svg.viewBox.baseVal.height = height;
  chart.parentElement.scrollTop = 0;
}));
