/// A kind of element. A call makes an element: `note("Nothing yet.")`.
struct Tag: Sendable {
    let name: String
    /// True if the element has no content and no end tag.
    let isVoid: Bool

    init(_ name: StaticString, isVoid: Bool = false) {
        self.name = "\(name)"
        self.isVoid = isVoid
    }

    func callAsFunction(_ attributes: HTMLAttribute?..., @HTMLBuilder content: () -> HTML) -> HTML {
        HTML(nodes: [.element(self, attributes.compactMap(\.self), content())])
    }

    /// An element around a part, for closures whose argument has no name.
    func callAsFunction(_ attribute: HTMLAttribute, _ content: HTML) -> HTML {
        HTML(nodes: [.element(self, [attribute], content)])
    }

    func callAsFunction(_ attributes: HTMLAttribute?...) -> HTML {
        HTML(nodes: [.element(self, attributes.compactMap(\.self), HTML())])
    }

    func callAsFunction(_ attributes: [HTMLAttribute], @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        HTML(nodes: [.element(self, attributes, content())])
    }
}

// The elements that the console uses, under their names in HTML and SVG.
let a = Tag("a")
let article = Tag("article")
let bdi = Tag("bdi")
let body = Tag("body")
let br = Tag("br", isVoid: true)
let button = Tag("button")
let caption = Tag("caption")
let code = Tag("code")
let datalist = Tag("datalist")
let dd = Tag("dd")
let del = Tag("del")
let details = Tag("details")
let div = Tag("div")
let dl = Tag("dl")
let dt = Tag("dt")
let fieldset = Tag("fieldset")
let form = Tag("form")
let h1 = Tag("h1")
let h2 = Tag("h2")
let h3 = Tag("h3")
let head = Tag("head")
let header = Tag("header")
let html = Tag("html")
let img = Tag("img", isVoid: true)
let input = Tag("input", isVoid: true)
let ins = Tag("ins")
let label = Tag("label")
let legend = Tag("legend")
let li = Tag("li")
let link = Tag("link", isVoid: true)
let main = Tag("main")
let meta = Tag("meta", isVoid: true)
let nav = Tag("nav")
let ol = Tag("ol")
let optgroup = Tag("optgroup")
let option = Tag("option")
let p = Tag("p")
let pre = Tag("pre")
let script = Tag("script")
let section = Tag("section")
let select = Tag("select")
let small = Tag("small")
let span = Tag("span")
let strong = Tag("strong")
let summary = Tag("summary")
let svg = Tag("svg")
let table = Tag("table")
let tbody = Tag("tbody")
let td = Tag("td")
let textarea = Tag("textarea")
let th = Tag("th")
let thead = Tag("thead")
let time = Tag("time")
let title = Tag("title")
let tr = Tag("tr")
let ul = Tag("ul")
let use = Tag("use")
