/// A strict JSON parser (RFC 8259). It refuses text that parsers interpret differently: duplicate keys, lone
/// surrogates, invalid UTF-8, a byte order mark, and text after the value.
public struct JSONParser {
    /// The limits on size and nesting, which bound the parser's work.
    public struct Limits: Sendable {
        public let bytes: Int
        public let depth: Int

        public init(bytes: Int = 1 << 20, depth: Int = 32) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    let bytes: [UInt8]
    let limits: Limits
    var position = 0
    var depth = 0

    /// - Throws: `JSONSyntaxError` with the byte offset of the error.
    public static func parse(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONSyntaxError) -> JSONValue {
        guard bytes.count <= limits.bytes else {
            throw JSONSyntaxError(reason: .tooLarge(limit: limits.bytes), offset: 0)
        }
        var parser = JSONParser(bytes: bytes, limits: limits)
        parser.skipWhitespace()
        let value = try parser.value()
        parser.skipWhitespace()
        guard parser.position == bytes.count else { throw parser.failure(.trailingCharacters) }
        return value
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        guard let byte = peek else { throw failure(.unexpectedEnd) }
        switch byte {
        case UInt8(ascii: "{"): return .object(try nested { parser throws(JSONSyntaxError) in try parser.object() })
        case UInt8(ascii: "["): return .array(try nested { parser throws(JSONSyntaxError) in try parser.array() })
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw failure(.unexpectedCharacter)
        }
    }

    private mutating func nested<Value>(
        _ body: (inout JSONParser) throws(JSONSyntaxError) -> Value
    ) throws(JSONSyntaxError) -> Value {
        guard depth < limits.depth else { throw failure(.tooDeep(limit: limits.depth)) }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONObject {
        position += 1
        var object = JSONObject()
        var keys = SeenKeys()
        skipWhitespace()
        if skip("}") { return object }
        // A signed payload has some twenty members. An object within another gets no room that its bytes have not paid for.
        if depth == 1 { object.reserveCapacity(min(20, bytes.count / 32)) }
        while true {
            let start = position
            guard peek == UInt8(ascii: "\"") else { throw unexpected() }
            let key = try string()
            guard keys.insert(key, into: object) else {
                throw JSONSyntaxError(reason: .duplicateKey(key), offset: start)
            }
            skipWhitespace()
            guard skip(":") else { throw unexpected() }
            skipWhitespace()
            object.addUnique(key, try value())
            skipWhitespace()
            if skip("}") { return object }
            guard skip(",") else { throw unexpected() }
            skipWhitespace()
        }
    }

    private mutating func array() throws(JSONSyntaxError) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        if skip("]") { return elements }
        while true {
            elements.append(try value())
            skipWhitespace()
            if skip("]") { return elements }
            guard skip(",") else { throw unexpected() }
            skipWhitespace()
        }
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in text.utf8 {
            guard peek == byte else { throw unexpected() }
            position += 1
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
        let start = position
        let invalid = JSONSyntaxError(reason: .invalidNumber, offset: start)
        _ = skip("-")
        if skip("0") {
            guard digits() == 0 else { throw invalid }
        } else {
            guard digits() > 0 else { throw invalid }
        }
        if skip(".") {
            guard digits() > 0 else { throw invalid }
        }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            guard digits() > 0 else { throw invalid }
        }
        return JSONNumber(text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        // Most bytes of a payload are in strings, so this loop has no calls.
        position = bytes.withUnsafeBufferPointer { bytes in
            var end = start
            while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\""),
                bytes[end] != UInt8(ascii: "\\")
            {
                end += 1
            }
            return end
        }
        switch peek {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            guard let text = String(strictUTF8: bytes[start..<position]) else {
                throw JSONSyntaxError(reason: .invalidUTF8, offset: start)
            }
            return text
        case UInt8(ascii: "\\"): return try escapedString(from: start)
        case nil: throw failure(.unexpectedEnd)
        default: throw failure(.unexpectedCharacter)
        }
    }

    /// Continues at the first escape of a string that started at `start`.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var unescaped = Array(bytes[start..<position])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(strictUTF8: unescaped[...]) else {
                    throw JSONSyntaxError(reason: .invalidUTF8, offset: start)
                }
                return text
            case UInt8(ascii: "\\"):
                unescaped.append(contentsOf: try escape().utf8)
            case 0..<0x20:
                throw failure(.unexpectedCharacter)
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func escape() throws(JSONSyntaxError) -> Character {
        let invalid = JSONSyntaxError(reason: .invalidEscape, offset: position)
        position += 1
        guard let byte = peek else { throw failure(.unexpectedEnd) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let unit = codeUnit() else { throw invalid }
            if let scalar = Unicode.Scalar(unit) { return Character(scalar) }
            // A surrogate is valid only as the first half of a pair.
            guard UTF16.isLeadSurrogate(unit), skip("\\"), skip("u"), let second = codeUnit(),
                UTF16.isTrailSurrogate(second)
            else { throw invalid }
            let pair = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            guard let scalar = Unicode.Scalar(pair) else { throw invalid }
            return Character(scalar)
        default: throw invalid
        }
    }

    private mutating func codeUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func unexpected() -> JSONSyntaxError {
        failure(position < bytes.count ? .unexpectedCharacter : .unexpectedEnd)
    }

    private func failure(_ reason: JSONSyntaxError.Reason) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, offset: position)
    }
}

/// The keys of the current object. Few keys are compared one by one, and many by hash. The time for an object with many
/// keys therefore stays linear.
private struct SeenKeys {
    private static let hashingThreshold = 64
    private var hashed: Set<[UInt8]> = []

    /// - Returns: False if the key exists.
    mutating func insert(_ key: String, into object: JSONObject) -> Bool {
        guard object.members.count >= Self.hashingThreshold else { return object[key] == nil }
        if hashed.isEmpty { hashed = Set(object.keys.map { Array($0.utf8) }) }
        return hashed.insert(Array(key.utf8)).inserted
    }
}
