/// The rules for the markup of every page.
enum MarkupRules {
    private static let names: Set<String> = [
        "a", "article", "bdi", "body", "br", "button", "caption", "code", "datalist", "dd", "del", "details",
        "div", "dl", "dt", "fieldset", "form", "g", "h1", "h2", "h3", "head", "header", "html", "img",
        "input", "ins", "label", "legend", "li", "line", "link", "main", "meta", "nav", "ol", "optgroup", "option", "p",
        "path",
        "pre", "rect", "script", "section", "select", "small", "span", "strong", "summary", "svg", "table", "tbody",
        "td", "text", "textarea", "th", "thead", "time", "title", "tr", "ul", "use",
    ]
    private static let attributes: Set<String> = [
        "accept", "action", "alt", "aria-current", "aria-describedby", "aria-hidden", "aria-label",
        "aria-labelledby", "aria-live", "autocomplete", "charset", "checked", "class", "content", "d",
        "data-code", "data-copy", "data-drop", "data-follow", "data-label", "data-live", "data-live-action",
        "data-moment", "data-month", "data-reload", "data-stay", "data-stream", "data-swap", "datetime", "disabled",
        "enctype",
        "for", "formaction", "formnovalidate", "height", "href", "id", "inputmode", "label", "lang", "list",
        "loading", "maxlength", "method", "name", "open", "placeholder", "popover", "popovertarget", "rel",
        "required", "role", "rows", "scope", "selected", "spellcheck", "src", "step", "tabindex", "text-anchor",
        "title", "type", "value", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
    ]
    private static let addresses: Set<String> = [
        "action", "data-live-action", "data-stream", "formaction", "href", "src",
    ]

    /// The elements, attributes and addresses that no page should have.
    static func defects(of markup: Markup) -> [String] {
        var defects: [String] = []
        for element in markup.elements {
            if !names.contains(element.name) { defects.append("the element <\(element.name)>") }
            for (name, bytes) in element.attributes {
                if !attributes.contains(name) { defects.append("the attribute \(name) of <\(element.name)>") }
                let value = String(decoding: bytes ?? [], as: UTF8.self)
                if addresses.contains(name), !isAllowed(value, of: name) {
                    defects.append("the address \(value.prefix(60).debugDescription) in \(name)")
                }
            }
        }
        let scripts = markup.elements.indices.filter { markup.elements[$0].name == "script" }
        let isModule = scripts.map { index in
            markup.elements[index].value("type") == "module"
                && markup.elements[index].value("src") == "/console/assets/console.js"
                && !markup.texts.contains { $0.parent == index }
        }
        if isModule != [true] { defects.append("scripts other than the console's module: \(scripts.count)") }
        return defects
    }

    /// True for an address of the console, the OpenAPI document or a safe address elsewhere.
    private static func isAllowed(_ address: String, of name: String) -> Bool {
        if address == "/console" || address.hasPrefix("/console/") || address.hasPrefix("/console?") { return true }
        guard name == "href" else { return false }
        return address == "/openapi.json" || ["#", "https://", "mailto:"].contains { address.hasPrefix($0) }
    }
}
