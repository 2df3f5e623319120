extension JSONValue {
    /// The value as JSON text without white space. It keeps the order of members and the digits of numbers.
    public var compactText: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// The same text with a line for each member and element. Indentation and spaces are like Xcode's.
    public var prettyText: String {
        var text = ""
        writePretty(to: &text, indentation: "")
        return text
    }

    private func writePretty(to text: inout String, indentation: String) {
        let inner = indentation + "  "
        switch self {
        case .object(let object):
            text.append("{\n")
            for (index, member) in object.members.enumerated() {
                if index > 0 { text.append(",\n") }
                text.append(inner)
                Self.write(string: member.key, to: &text)
                text.append(" : ")
                member.value.writePretty(to: &text, indentation: inner)
            }
            text.append("\n\(indentation)}")
        case .array(let elements):
            text.append("[\n")
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(",\n") }
                text.append(inner)
                element.writePretty(to: &text, indentation: inner)
            }
            text.append("\n\(indentation)]")
        case .string, .number, .bool, .null: write(to: &text)
        }
    }

    private func write(to text: inout String) {
        switch self {
        case .object(let object):
            text.append("{")
            for (index, member) in object.members.enumerated() {
                if index > 0 { text.append(",") }
                Self.write(string: member.key, to: &text)
                text.append(":")
                member.value.write(to: &text)
            }
            text.append("}")
        case .array(let elements):
            text.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(",") }
                element.write(to: &text)
            }
            text.append("]")
        case .string(let string): Self.write(string: string, to: &text)
        case .number(let number): text.append(number.text)
        case .bool(let bool): text.append(bool ? "true" : "false")
        case .null: text.append("null")
        }
    }

    private static func write(string: String, to text: inout String) {
        text.append("\"")
        let isPlain = string.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain {
            text.append(string)
            text.append("\"")
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text.append("\\\"")
            case "\\": text.append("\\\\")
            case "\n": text.append("\\n")
            case "\r": text.append("\\r")
            case "\t": text.append("\\t")
            case "\u{8}": text.append("\\b")
            case "\u{C}": text.append("\\f")
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                text.append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text.append("\"")
    }
}
