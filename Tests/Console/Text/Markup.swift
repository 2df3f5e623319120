/// A page of the console as a list of elements and texts.
///
/// The reader accepts only the markup that the console writes: no comments, quoted attributes, balanced tags, and character
/// references for all characters that mean something.
struct Markup {
    /// A part of a page that is no such markup.
    struct Defect: Error, CustomStringConvertible {
        let reason: String
        /// The page around the defect.
        let excerpt: String

        var description: String { "\(reason) at \(excerpt.debugDescription)" }
    }

    struct Element {
        let name: String
        /// The attributes. One without a value has nil.
        let attributes: [(name: String, value: [UInt8]?)]
        /// The index of the element around it; nil for the first.
        let parent: Int?

        func value(_ name: String) -> String? {
            attributes.first { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    struct Text {
        /// The text that a person reads, in UTF-8.
        let bytes: [UInt8]
        /// The index of the element around it.
        let parent: Int
    }

    private static let start = Array("<!DOCTYPE html>\n".utf8)
    /// The elements without an end tag (HTML Standard section 13.1.2).
    private static let void: Set<String> = ["br", "img", "input", "link", "meta"]
    private static let references: [(name: [UInt8], byte: UInt8)] = [
        (Array("&amp;".utf8), UInt8(ascii: "&")), (Array("&lt;".utf8), UInt8(ascii: "<")),
        (Array("&gt;".utf8), UInt8(ascii: ">")), (Array("&quot;".utf8), UInt8(ascii: "\"")),
        (Array("&#39;".utf8), UInt8(ascii: "'")),
    ]

    private(set) var elements: [Element] = []
    private(set) var texts: [Text] = []
    private let page: [UInt8]
    private var offset = 0
    private var open: [Int] = []

    /// - Throws: `Defect`, the first one.
    init(_ text: String) throws(Defect) {
        page = Array(text.utf8)
        guard page.starts(with: Self.start) else { throw defect("no document type") }
        offset = Self.start.count
        while offset < page.count {
            if page[offset] != UInt8(ascii: "<") {
                try readText()
            } else if offset + 1 < page.count, page[offset + 1] == UInt8(ascii: "/") {
                try readEndTag()
            } else {
                try readTag()
            }
        }
        guard open.isEmpty else { throw defect("open elements at the end") }
    }

    private func defect(_ reason: String) -> Defect {
        let excerpt = page[max(0, min(offset, page.count) - 20)..<min(page.count, offset + 60)]
        return Defect(reason: reason, excerpt: String(decoding: excerpt, as: UTF8.self))
    }

    private mutating func readText() throws(Defect) {
        let end = page[offset...].firstIndex(of: UInt8(ascii: "<")) ?? page.count
        guard let parent = open.last else { throw defect("text outside of the elements") }
        texts.append(Text(bytes: try unescaped(offset..<end), parent: parent))
        offset = end
    }

    private mutating func readEndTag() throws(Defect) {
        offset += 2
        let name = readName()
        guard let last = open.popLast(), elements[last].name == name else { throw defect("unbalanced </\(name)") }
        try expect(UInt8(ascii: ">"))
    }

    private mutating func readTag() throws(Defect) {
        offset += 1
        let name = readName()
        guard !name.isEmpty else { throw defect("a < that begins no tag") }
        guard !open.isEmpty || elements.isEmpty else { throw defect("a second root element") }
        var attributes: [(name: String, value: [UInt8]?)] = []
        while offset < page.count, page[offset] != UInt8(ascii: ">") {
            try expect(UInt8(ascii: " "))
            let attribute = readName()
            guard !attribute.isEmpty else { throw defect("an attribute without a name") }
            guard offset < page.count, page[offset] == UInt8(ascii: "=") else {
                attributes.append((attribute, nil))
                continue
            }
            offset += 1
            try expect(UInt8(ascii: "\""))
            let end = page[offset...].firstIndex(of: UInt8(ascii: "\"")) ?? page.count
            attributes.append((attribute, try unescaped(offset..<end)))
            offset = end
            try expect(UInt8(ascii: "\""))
        }
        try expect(UInt8(ascii: ">"))
        elements.append(Element(name: name, attributes: attributes, parent: open.last))
        if !Self.void.contains(name) { open.append(elements.count - 1) }
    }

    private mutating func readName() -> String {
        let name = page[offset...].prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        offset = name.endIndex
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func expect(_ byte: UInt8) throws(Defect) {
        guard offset < page.count, page[offset] == byte else {
            throw defect("no \(String(UnicodeScalar(byte)).debugDescription)")
        }
        offset += 1
    }

    private func unescaped(_ range: Range<Int>) throws(Defect) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            switch page[index] {
            case UInt8(ascii: "&"):
                let rest = page[index..<range.upperBound]
                guard let reference = Self.references.first(where: { rest.starts(with: $0.name) }) else {
                    throw defect("a & that begins no reference")
                }
                bytes.append(reference.byte)
                index += reference.name.count
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
                throw defect("a character without a reference")
            default:
                bytes.append(page[index])
                index += 1
            }
        }
        return bytes
    }
}
