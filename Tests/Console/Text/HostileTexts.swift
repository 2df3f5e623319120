import TestSupport

/// Texts of markup, quotes and right-to-left characters, up to the longest that a field accepts.
struct HostileTexts {
    /// The characters that a field accepts.
    enum Characters: Sendable {
        /// No spaces, and no control or format characters.
        case name
        /// No control or format characters.
        case sentence
        /// No control characters.
        case line
        case lines
        /// Printable ASCII.
        case header
        /// The characters of an address.
        case address
    }

    /// The longest text.
    enum Limit: Sendable {
        /// The length in bytes of UTF-8.
        case bytes(Int)
        /// The length in Unicode scalars.
        case scalars(Int)
    }

    private static let markerLength = 7
    private static let letters = [
        "<script>", "</script>", "\"", "'", "&", "&lt;", "&#60;", "<!--", "-->", "]]>", "<svg/onload=alert(1)>",
        "{{7*7}}", "javascript:alert(1)", "`", "</textarea>", "</title>", "<b>", "onerror=x", "\\", "%3Cb%3E", "$(x)",
        "</bdi>", "/..", "\"><img/src=x>",
    ]
    private static let world = ["שלום", "مرحبا", "q\u{316}\u{301}", "새싹", "\u{1F331}", "שלום<b>"]
    private static let spaces = [" ", "\" onfocus=\"alert(1)", " style=x ", "<img src=x onerror=alert(1)>"]
    private static let formats = ["\u{202E}", "\u{200F}", "\u{2028}", "\u{200B}"]
    private static let controls = ["\n", "\t", "\u{85}"]
    private static let address = [
        "%22%3E%3Cscript%3E", "'", "&lt;", "&amp;", "&", ";", "javascript:", "(7*7)", "$", "!", "~", "/", "=", ",",
    ]

    private let dice: Dice
    /// The texts so far. The number in a text's marker is its index.
    private(set) var all: [HostileText] = []

    init(seed: UInt64) {
        dice = Dice(seed: seed)
    }

    /// A text for a field. Some are exactly as long as the field accepts.
    ///
    /// - Parameter start: The start that the field needs.
    mutating func next(
        _ field: String, _ characters: Characters, _ limit: Limit, startingWith start: String = ""
    ) -> HostileText {
        let number = String(all.count)
        let marker = "mk" + String(repeating: "0", count: 4 - number.count) + number + "q"
        let pieces = Self.pieces(characters)
        let room = Self.room(limit, start) - Self.markerLength - 1
        // No space is at an end, because forms remove it.
        let first = Self.pieces(characters == .address ? .address : characters == .header ? .header : .name)
        let before = start + (dice.pick(first.filter { Self.size($0, limit) <= min(room, 32) }) ?? "")
        let rest = room - (Self.size(before, limit) - Self.size(start, limit))
        let isLongest = dice.happens(40)
        let length = isLongest ? rest : dice.number(below: min(rest, 160) + 1)
        var after = ""
        while let piece = dice.pick(pieces), Self.size(after + piece, limit) <= length { after += piece }
        if isLongest {
            let filling = if case .scalars = limit { "\u{1F331}" } else { "x" }
            after += String(repeating: filling, count: rest - Self.size(after, limit))
        }
        let text = HostileText(field: field, before: before, marker: marker, after: after + "x")
        all.append(text)
        return text
    }

    /// A random choice of the same dice.
    func pick<Element>(_ elements: [Element]) -> Element? { dice.pick(elements) }

    private static func size(_ text: String, _ limit: Limit) -> Int {
        switch limit {
        case .bytes: text.utf8.count
        case .scalars: text.unicodeScalars.count
        }
    }

    private static func room(_ limit: Limit, _ start: String) -> Int {
        switch limit {
        case .bytes(let maximum), .scalars(let maximum): maximum - size(start, limit)
        }
    }

    private static func pieces(_ characters: Characters) -> [String] {
        switch characters {
        case .name: letters + world
        case .sentence: letters + world + spaces
        case .line: letters + world + spaces + formats
        case .lines: letters + world + spaces + formats + controls
        case .header: letters
        case .address: address
        }
    }
}
