/// The form of a text on a terminal, which decides the escapes.
///
/// Names, attributes and notes come from strangers. An escape sequence of theirs would clear the screen or set the clipboard, a line feed
/// would forge a row, and a bidirectional override would show a row in another order.
enum TerminalText {
    /// One line. Line breaks are escaped, too.
    case line
    /// Several lines, which the command has formatted itself.
    case lines
    /// JSON, with the escapes of JSON, which its readers undo.
    case json

    private func escape(_ scalar: Unicode.Scalar) -> String {
        if self == .json { return scalar.utf16.map { "\\u" + Self.hexadecimal($0, digits: 4) }.joined() }
        return switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(Self.hexadecimal(scalar.value, digits: 2))}"
        }
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    fileprivate func shown(_ text: String) -> String {
        guard text.utf8.contains(where: { !(0x20...0x7E).contains($0) }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if scalar.isShown || (scalar == "\n" && self != .line) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += escape(scalar)
            }
        }
        return shown
    }
}

extension String {
    /// The text with visible escapes for all that a terminal obeys or does not show.
    func shown(as form: TerminalText) -> String { form.shown(self) }
}

extension Unicode.Scalar {
    /// False for control and format characters, the separators of lines and paragraphs, and all others that show nothing (Unicode 16.0,
    /// sections 5.21 and 23.2). The sixteen variation selectors of emoji are left in peace.
    fileprivate var isShown: Bool {
        if isASCII { return (0x20...0x7E).contains(value) }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return !properties.isDefaultIgnorableCodePoint || (0xFE00...0xFE0F).contains(value)
        }
    }
}
