// Examines a page for what people with a screen reader, a keyboard, a phone or weak eyes need. Returns sentences.
// The tests run it in the browser; the page itself loads nothing of it.
({ isPhone, isKorean }) => {
  const defects = [];
  const report = (sentence, element) => defects.push(element ? `${sentence}: ${describe(element)}` : sentence);
  const describe = (element) => element.outerHTML.replace(/\s+/g, " ").slice(0, 160);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
  // Content for screen readers only is one pixel large.
  const isDrawn = (element) => {
    if (!isVisible(element)) return false;
    const box = element.getBoundingClientRect();
    for (let node = element; node; node = node.parentElement) if (node.matches(".hidden, .skip:not(:focus)")) return false;
    return box.width > 1 && box.height > 1;
  };
  const words = (text) => text.replace(/\s+/g, " ").trim();
  const named = (identifiers) => words((identifiers ?? "").split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" "));

  /** The accessible name of an element, as far as the console's pages need the computation of ARIA. */
  const name = (element) =>
    named(element.getAttribute("aria-labelledby")) || words(element.getAttribute("aria-label") ?? "") ||
    words([...(element.labels ?? [])].map((label) => label.textContent).join(" ")) ||
    (element.matches("input, select, textarea") ? "" : words(element.textContent)) ||
    words([...element.querySelectorAll("img[alt], svg[aria-label]")].map((image) => image.alt ?? image.getAttribute("aria-label")).join(" ")) ||
    words(element.querySelector("svg > title")?.textContent ?? "");

  // Document
  const language = document.documentElement.lang;
  if (language !== (isKorean ? "ko" : "en")) report(`the language of the page is "${language}"`);
  if (!words(document.title)) report("the page has no title");
  if (all("main").length !== 1) report("the page does not have one main element");
  if (all("h1").length !== 1) report(`the page has ${all("h1").length} h1`);
  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6").filter(isVisible)) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) report(`a heading of level ${next} follows one of level ${level}`, heading);
    if (!words(heading.textContent)) report("a heading is empty", heading);
    level = next;
  }
  const seen = new Set();
  for (const element of all("[id]")) {
    if (seen.has(element.id)) report(`the identifier "${element.id}" is not unique`, element);
    seen.add(element.id);
  }
  for (const attribute of ["for", "aria-labelledby", "aria-describedby", "aria-controls", "list"]) {
    for (const element of all(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute).split(/\s+/)) {
        if (!document.getElementById(id)) report(`${attribute} names "${id}", which the page lacks`, element);
      }
    }
  }
  for (const link of all('a[href^="#"]')) {
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) report("a link leads to no part of the page", link);
  }
  for (const element of all("[style]:not([style='']), [onclick], [onchange], [onsubmit], [oninput], style, script:not([src])")) report("inline style or script", element);

  // Controls
  for (const control of all("a[href], button, summary, input:not([type=hidden]), select, textarea, [tabindex='0'], iframe, dialog, [role=region], [role=img]")) {
    if (!name(control)) report("a control has no name", control);
  }
  for (const field of all("input:not([type=hidden]):not([type=submit]), select, textarea")) {
    if (!field.labels?.length && !field.getAttribute("aria-label") && !field.getAttribute("aria-labelledby")) report("a field has no label", field);
  }
  for (const element of all("a a, a button, button a, button button, label label, form form, a input, summary button")) report("a control is inside another", element);
  for (const element of all("[tabindex]")) if (Number(element.tabIndex) > 0) report("a tabindex changes the order", element);
  for (const form of all("form[method=post]")) if (!form.querySelector("input[name=form-token]")?.value) report("a form has no token", form);
  for (const button of all("form button")) if (!["submit", "button", "reset"].includes(button.type)) report("a button has no type", button);

  // Pictures, charts and tables
  for (const image of all("img")) {
    if (!image.hasAttribute("alt")) report("a picture has no alt", image);
    else if (image.complete && image.naturalWidth === 0 && image.loading !== "lazy") report("a picture cannot be shown", image);
  }
  for (const chart of all("svg.chart:not([aria-hidden=true])")) {
    if (!name(chart)) report("a chart has no title", chart);
    if (!chart.closest("main")?.querySelector("table")) report("a chart has no table", chart);
  }
  for (const chart of all("svg:not(.chart):not([aria-hidden=true])")) {
    if (!name(chart)) report("a drawing has neither a name nor aria-hidden", chart);
  }
  for (const table of all("table")) {
    if (!words(table.caption?.textContent ?? "")) report("a table has no caption", table);
    if (!table.querySelector("th")) report("a table has no heads", table);
    for (const head of table.querySelectorAll("th")) {
      if (!["col", "row", "colgroup", "rowgroup"].includes(head.getAttribute("scope"))) report("a head has no scope", head);
      if (!words(head.textContent)) report("a head is empty", head);
    }
    const widths = new Set([...table.rows].map((row) => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0)));
    if (widths.size > 1 && !table.querySelector("[rowspan]")) report(`the rows of a table have ${[...widths].join(" and ")} cells`, table);
  }
  for (const list of all("ul, ol")) for (const child of list.children) if (!child.matches("li, script, template")) report("a list has a child that is no entry", child);
  for (const list of all("dl")) for (const child of list.children) if (!child.matches("dt, dd, div")) report("a list of facts has another child", child);

  // Colours: the contrast of WCAG 2.2, for each text that is drawn
  const parse = (text) => {
    const numbers = text.match(/[\d.]+%?/g)?.map(Number) ?? [0, 0, 0, 0];
    if (text.startsWith("color(srgb")) return [numbers[0] * 255, numbers[1] * 255, numbers[2] * 255, numbers[3] ?? 1];
    return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
  };
  const over = (front, back) => front.slice(0, 3).map((value, index) => value * front[3] + back[index] * (1 - front[3])).concat(1);
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const background = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((back, layer) => over(layer, back), canvas);
  };
  const opacity = (element) => {
    let product = 1;
    for (let node = element; node; node = node.parentElement) product *= Number(getComputedStyle(node).opacity);
    return product;
  };
  const check = (element, colour, text) => {
    const back = background(element);
    const front = parse(colour);
    front[3] *= opacity(element);
    const ratio = contrast(over(front, back), back);
    if (ratio < 4.5) report(`the contrast of "${text.slice(0, 40)}" is ${ratio.toFixed(2)}`, element);
  };
  const checked = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = words(walker.currentNode.data);
    const element = walker.currentNode.parentElement;
    if (!text || checked.has(element) || element.matches("script, style, template, option, :disabled") || !isDrawn(element)) continue;
    checked.add(element);
    const style = getComputedStyle(element);
    check(element, element.closest("svg") ? style.fill : style.color, text);
  }
  for (const field of all("input:not([type=hidden]):not([type=checkbox]):not([type=radio]), textarea, select").filter(isDrawn)) {
    check(field, getComputedStyle(field).color, field.value || "a value");
    if (field.placeholder) check(field, getComputedStyle(field, "::placeholder").color, field.placeholder);
  }

  // Size
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    const isScrolled = (element) => { for (let node = element.parentElement; node; node = node.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowX)) return true; return false; };
    const wide = all("body *").filter((element) => isVisible(element) && element.getBoundingClientRect().right > width + 1 && !isScrolled(element)).at(-1);
    report(`the page is ${document.documentElement.scrollWidth} pixels wide, in a window of ${width}`, wide);
  }
  if (isPhone) {
    // WCAG 2.2 asks for 24 pixels; links within a sentence are exempt.
    for (const control of all("button, summary, input:not([type=hidden]), select, textarea, nav a, .button").filter(isDrawn)) {
      const box = control.getBoundingClientRect();
      const label = control.matches("[type=checkbox], [type=radio]") ? control.labels?.[0]?.getBoundingClientRect() : null;
      if (Math.max(box.height, label?.height ?? 0) < 23.5) report(`a control is ${box.height.toFixed(0)} pixels high`, control);
    }
  }

  // Languages: the text of the console itself, without what comes from outside (bdi, code, pre, time)
  const outside = "bdi, code, pre, time, textarea, option, script, style, template, [lang]:not(html), [translate=no]";
  // Proper names; commands and values in quotes; identifiers such as winbackOffers, app-store-key and com.example.coins
  const names = /App Store(?: (?:Connect|Server(?: API| Library)?))?|Ask to Buy|Worldwide Developer Relations|JSON Lines|`[^`]*`|"[^"]*"|\w*[a-z][A-Z]\w*|\w+(?:[-./]\w+)+/g;
  const own = [];
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (!texts.currentNode.parentElement.closest(outside)) own.push([texts.currentNode.data, texts.currentNode.parentElement]);
  for (const attribute of ["title", "aria-label", "placeholder", "alt"]) {
    for (const element of all(`[${attribute}]`)) if (!element.closest("bdi, code, pre, time, img, [lang]:not(html)")) own.push([element.getAttribute(attribute), element]);
  }
  for (const [text, element] of own) {
    if (isKorean && /[A-Za-z]{2,}(?:[,.;:]? [A-Za-z]{2,}){2,}/.test(words(text.replace(names, "·")))) report(`English on a Korean page, "${words(text).slice(0, 80)}"`, element);
    if (!isKorean && /[\uac00-\ud7a3]/.test(text)) report(`Korean on an English page, "${words(text).slice(0, 80)}"`, element);
  }
  return defects;
};
