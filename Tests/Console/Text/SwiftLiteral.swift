/// A string literal of a Swift source, with the code around it.
struct SwiftLiteral {
    /// The text, with `{}` for each value.
    var text: String
    /// The function, the type or the name whose parentheses or brackets contain the literal. Empty without one, as in braces.
    var callee: String
    /// The bracket that contains the literal; nil at the top of a file.
    var bracket: Character?
    /// The label of the argument; empty without one.
    var label: String
    /// The last word or sign before the literal.
    var previous: String

    /// The literals of a source, without those of its comments.
    static func all(in source: String) -> [SwiftLiteral] {
        var reader = Reader(characters: Array(source))
        reader.read(until: nil)
        return reader.literals
    }

    private struct Reader {
        let characters: [Character]
        var position = 0
        var literals: [SwiftLiteral] = []
        var brackets: [(sign: Character, callee: String)] = []

        mutating func read(until end: Character?) {
            let depth = brackets.count
            while position < characters.count {
                let character = characters[position]
                if character == "/", next == "/" {
                    while position < characters.count, characters[position] != "\n" { position += 1 }
                } else if character == "#", next == "\"" {
                    position += 2
                    while !(characters[position] == "\"" && next == "#") { position += 1 }
                    position += 2
                } else if character == "\"" {
                    literal()
                } else {
                    if "([{".contains(character) { brackets.append((character, callee(before: position))) }
                    if ")]}".contains(character) {
                        if brackets.count == depth { return }
                        brackets.removeLast()
                    }
                    position += 1
                }
            }
        }

        private var next: Character? { position + 1 < characters.count ? characters[position + 1] : nil }

        private mutating func literal() {
            let before = word(before: position, signs: true)
            let bracket = brackets.last
            position += 1
            var text = ""
            while characters[position] != "\"" {
                if characters[position] == "\\", next == "(" {
                    position += 2
                    // A value of the Korean alone has no place in the English.
                    if !characters[position...].starts(with: "korean:") { text += "{}" }
                    brackets.append(("(", ""))
                    read(until: ")")
                    brackets.removeLast()
                } else if characters[position] == "\\" {
                    position += 1
                    text.append(characters[position] == "n" ? "\n" : characters[position])
                } else {
                    text.append(characters[position])
                }
                position += 1
            }
            position += 1
            let label = before.hasSuffix(":") && bracket?.sign != "{" ? String(before.dropLast()) : ""
            literals.append(
                SwiftLiteral(
                    text: text, callee: bracket?.sign == "{" ? "" : bracket?.callee ?? "", bracket: bracket?.sign,
                    label: label, previous: before))
        }

        /// The name before a bracket; a colon for the value after one.
        private func callee(before place: Int) -> String {
            let name = word(before: place)
            let isValue = characters[place] == "(" && word(before: place, signs: true).hasSuffix(":")
            return name.isEmpty && isValue ? ":" : name
        }

        /// The name before a place; with signs, also an operator or a label with its colon.
        private func word(before place: Int, signs: Bool = false) -> String {
            var end = place
            if signs { while end > 0, characters[end - 1].isWhitespace { end -= 1 } }
            var start = end
            if signs {
                while start > 0, !characters[start - 1].isWhitespace, !"([{,\"".contains(characters[start - 1]) {
                    start -= 1
                }
                if start == end, start > 0 { start -= 1 }
            } else {
                while start > 0, characters[start - 1].isLetter || characters[start - 1].isNumber { start -= 1 }
            }
            return String(characters[start..<end])
        }
    }
}
