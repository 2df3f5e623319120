/// The hostile texts that pages have shown.
struct ShownTexts {
    private static let mark = Array("mk".utf8)
    /// The ends of a text that was cut: the replacement of a character, and the end of an isolated text.
    private static let ends = [Array("\u{FFFD}".utf8), Array("\u{2069}".utf8)]

    private let texts: [HostileText]
    private let forms: [[HostileText.Form]]
    /// The numbers of the texts that a page has shown whole.
    private(set) var seen: Set<Int> = []

    init(_ texts: [HostileText]) {
        self.texts = texts
        forms = texts.map(\.forms)
    }

    /// The texts of these numbers that no page has shown.
    func missing(among numbers: [Int]) -> [HostileText] {
        numbers.filter { !seen.contains($0) }.map { texts[$0] }
    }

    /// Finds each marker of a page, and compares the text around it.
    ///
    /// - Parameter isRefusal: True for a page that quotes a refused text, possibly only its beginning.
    /// - Returns: The markers around which another text is.
    mutating func defects(of markup: Markup, isRefusal: Bool) -> [String] {
        var defects: [String] = []
        for text in markup.texts {
            defects += check(
                text.bytes, "<\(markup.elements[text.parent].name)>", isShown: true, isCut: true, isRefusal)
        }
        for element in markup.elements {
            for (name, value) in element.attributes {
                guard let value else { continue }
                defects += check(value, name, isShown: name == "value", isCut: false, false)
            }
        }
        return defects
    }

    private mutating func check(
        _ bytes: [UInt8], _ place: String, isShown: Bool, isCut: Bool, _ isRefusal: Bool
    ) -> [String] {
        var defects: [String] = []
        for (position, number) in Self.markers(in: bytes) where texts.indices.contains(number) {
            let (start, rest) = (bytes[..<position], bytes[(position + 7)...])
            let fitting = forms[number].filter { start.hasSuffix($0.before) }
            if let whole = fitting.first(where: { rest.starts(with: $0.after) }) {
                if isShown, whole.isReadable { seen.insert(number) }
                continue
            }
            let isBeginning =
                isCut && fitting.contains { isRefusal || $0.after.starts(with: Self.withoutEnd(rest)) }
            if !isBeginning {
                let excerpt = String(
                    decoding: bytes[max(0, position - 30)..<min(bytes.count, position + 50)], as: UTF8.self)
                defects.append("\(texts[number].field) is another text in \(place): \(excerpt.debugDescription)")
            }
        }
        return defects
    }

    private static func withoutEnd(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        ends.first { bytes.hasSuffix($0) }.map { bytes.dropLast($0.count) } ?? bytes
    }

    /// The positions of the markers and their numbers.
    private static func markers(in bytes: [UInt8]) -> [(position: Int, number: Int)] {
        guard bytes.count >= 7 else { return [] }
        return (0...(bytes.count - 7)).compactMap { position in
            guard bytes[position] == mark[0], bytes[position + 1] == mark[1],
                bytes[position + 6] == UInt8(ascii: "q"),
                let number = Int(String(decoding: bytes[(position + 2)..<(position + 6)], as: UTF8.self))
            else { return nil }
            return (position, number)
        }
    }
}

extension Collection where Element: Equatable, Self: BidirectionalCollection {
    fileprivate func hasSuffix(_ suffix: some BidirectionalCollection<Element>) -> Bool {
        reversed().starts(with: suffix.reversed())
    }
}
