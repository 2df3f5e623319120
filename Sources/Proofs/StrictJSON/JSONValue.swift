/// A JSON value that keeps the order of members and the digits of numbers.
public enum JSONValue: Hashable, Sendable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    case number(JSONNumber)
    case bool(Bool)
    case null

    /// The type of the value for messages: `object`, `array`, `string`, `number`, `boolean` or `null`.
    public var kind: String {
        switch self {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .number: "number"
        case .bool: "boolean"
        case .null: "null"
        }
    }

    public static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(Int64(value)))
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension JSONValue {
    /// The value as JSON text without white space. It keeps the order of members and the digits of numbers.
    public var compactText: String { String(decoding: compactBytes, as: UTF8.self) }

    /// The same text as bytes.
    package var compactBytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: nil)
        return bytes
    }

    /// The same text with a line for each member and element. Indentation and spaces are like Xcode's.
    public var prettyText: String {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: "")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter indentation: The indentation of the line; nil for a text without white space.
    private func write(to bytes: inout [UInt8], indentation: String?) {
        switch self {
        case .object(let object):
            Self.write(object.members, in: ("{", "}"), to: &bytes, indentation) { member, bytes, inner in
                Self.write(string: member.key, to: &bytes)
                if inner == nil { bytes.append(UInt8(ascii: ":")) } else { bytes.append(contentsOf: " : ".utf8) }
                member.value.write(to: &bytes, indentation: inner)
            }
        case .array(let elements):
            Self.write(elements, in: ("[", "]"), to: &bytes, indentation) { $0.write(to: &$1, indentation: $2) }
        case .string(let string): Self.write(string: string, to: &bytes)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
        case .null: bytes.append(contentsOf: "null".utf8)
        }
    }

    @inline(__always)
    private static func write<Part>(
        _ parts: [Part],
        in brackets: (Unicode.Scalar, Unicode.Scalar),
        to bytes: inout [UInt8],
        _ indentation: String?,
        _ write: (Part, inout [UInt8], _ inner: String?) -> Void
    ) {
        let inner = indentation.map { $0 + "  " }
        bytes.append(UInt8(ascii: brackets.0))
        if inner != nil { bytes.append(UInt8(ascii: "\n")) }
        for (index, part) in parts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if let inner { bytes.append(contentsOf: (index > 0 ? "\n\(inner)" : inner).utf8) }
            write(part, &bytes, inner)
        }
        if let indentation { bytes.append(contentsOf: "\n\(indentation)".utf8) }
        bytes.append(UInt8(ascii: brackets.1))
    }

    /// Writes a string in quotation marks (RFC 8259 section 7).
    package static func write(string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() {
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
                bytes.append(contentsOf: escape(of: byte).utf8)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(of byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\r"): "\\r"
        case UInt8(ascii: "\t"): "\\t"
        case 0x8: "\\b"
        case 0xC: "\\f"
        default: "\\u00\([byte].hexadecimal)"
        }
    }
}

/// A JSON number with its original digits. Nothing is lost until a caller requests a value.
public struct JSONNumber: Hashable, Sendable {
    /// The text of the number, in JSON's grammar (RFC 8259 section 6).
    public let text: String
}

extension JSONNumber {
    public init(_ value: Int64) {
        text = String(value)
    }

    /// A decimal number in thousandths: 1990 is written `1.99`, and 5000 is written `5`.
    public init(thousandths: Int64) {
        let (whole, fraction) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
        var digits = String(fraction + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        text = (thousandths < 0 ? "-" : "") + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }

    /// The value as an integer. Nil if the text is not an integer or does not fit.
    public var int64: Int64? { Int64(text) }

    /// The nearest double. Nil if the number exceeds a double's range.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}

/// The members of a JSON object in the order of the text. Each key is unique.
public struct JSONObject: Hashable, Sendable {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        public let key: String
        public let value: JSONValue
        fileprivate let mark: Int

        fileprivate init(_ key: String, _ value: JSONValue, _ mark: Int) {
            (self.key, self.value, self.mark) = (key, value, mark)
        }

        public static func == (left: Member, right: Member) -> Bool {
            left.key == right.key && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(key)
            hasher.combine(value)
        }
    }

    public private(set) var members: [Member] = []

    public init() {}

    mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    /// The value of a key, or nil if the key is absent.
    ///
    /// Keys are compared by their bytes, as JSON defines. Swift's own comparison of strings takes quadratic time on
    /// some untrusted strings.
    public subscript(key: String) -> JSONValue? {
        value(of: key, Self.mark(of: key))
    }

    /// The text of a key; nil if the key is absent or has another value.
    package func text(_ key: String) -> String? {
        if case .string(let text)? = self[key] { text } else { nil }
    }

    private func value(of key: String, _ mark: Int) -> JSONValue? {
        for member in members where member.mark == mark && member.key.hasSameBytes(as: key) { return member.value }
        return nil
    }

    /// A number of the length and the ends of a key, which tells most keys of an object apart without their other bytes.
    private static func mark(of key: String) -> Int {
        let bytes = key.utf8
        return bytes.count << 16 | Int(bytes.first ?? 0) << 8 | Int(bytes.last ?? 0)
    }

    public var keys: [String] { members.map(\.key) }

    /// Adds a member at the end.
    ///
    /// - Returns: False if the key exists. Then nothing changes.
    public mutating func add(_ key: String, _ value: JSONValue) -> Bool {
        let mark = Self.mark(of: key)
        guard self.value(of: key, mark) == nil else { return false }
        members.append(Member(key, value, mark))
        return true
    }

    /// Adds a member with a new key. The parser has checked that the key is new.
    mutating func addUnique(_ key: String, _ value: JSONValue) {
        members.append(Member(key, value, Self.mark(of: key)))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates the members that have a value, in the order of the literal. If a key is repeated, its first value is used.
    public init(dictionaryLiteral elements: (String, JSONValue?)...) {
        for case (let key, let value?) in elements { _ = add(key, value) }
    }
}

/// A syntax error in JSON, with its position.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    /// The cause of the error.
    public enum Reason: Equatable, Sendable {
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        case unexpectedEnd
        case unexpectedCharacter
        case invalidNumber
        case invalidEscape
        case invalidUTF8
        case duplicateKey(String)
        case trailingCharacters
    }

    public let reason: Reason
    /// The offset from the start of the text, in bytes.
    public let offset: Int

    public var message: String {
        switch reason {
        case .tooLarge(let limit): "the text has more than \(limit) bytes"
        case .tooDeep(let limit): "the nesting at byte \(offset) is deeper than \(limit) levels"
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedCharacter: "the character at byte \(offset) is unexpected"
        case .invalidNumber: "the number at byte \(offset) is not valid JSON"
        case .invalidEscape: "the escape at byte \(offset) is not valid JSON"
        case .invalidUTF8: "the string at byte \(offset) is not UTF-8"
        case .duplicateKey(let key):
            "the key \"\(String(decoding: key.utf8.prefix(64), as: UTF8.self))\" appears twice in one object, at byte \(offset)"
        case .trailingCharacters: "the text continues after the value at byte \(offset)"
        }
    }
}
