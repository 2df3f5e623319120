import Proofs

/// Typed access to the fields of an object in a request's body. A field of the wrong type is refused with its path (RFC
/// 6901).
package struct JSONFields {
    /// The default maximum length of a string, in bytes of UTF-8.
    package static let maximumLength = 256
    /// The maximum length of an e-mail address or password in bytes. Their own rules refuse shorter ones with a
    /// specific code.
    package static let maximumCredentialLength = 1024

    package let object: JSONObject
    /// The path of the object. Empty for the body itself.
    package let path: String

    /// - Parameter known: The names of all fields. Nil accepts any.
    /// - Throws: `Problem` with the code `bodyInvalid` if a field has another name.
    package init(object: JSONObject, path: String, known: [String]?) throws(Problem) {
        self.object = object
        self.path = path
        guard let known else { return }
        if let unknown = object.keys.first(where: { key in !known.contains { $0.hasSameBytes(as: key) } }) {
            let name = "\(path)/\(unknown.unicodeScalars.prefix(64).map(String.init).joined())"
            let others = known.isEmpty ? "" : " The fields are \(known.joined(separator: ", "))."
            throw JSONBody.invalid(
                "The field \(name) is unknown.\(Suggestion.sentence(for: unknown, among: known))\(others)")
        }
    }

    /// Returns a required string.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    package func text(_ field: String, upTo maximumLength: Int = Self.maximumLength) throws(Problem) -> String {
        guard case .string(let text) = try value(field, "a string") else { throw wrong(field, "a string") }
        return try checked(text, field, maximumLength)
    }

    /// Returns a required integer.
    package func integer(_ field: String) throws(Problem) -> Int {
        let expected = "an integer"
        guard case .number(let number) = try value(field, expected), let integer = Int(number.text) else {
            throw wrong(field, expected)
        }
        return integer
    }

    /// Returns an integer, or nil if the field is missing.
    package func optionalInteger(_ field: String) throws(Problem) -> Int? {
        object[field] == nil ? nil : try integer(field)
    }

    /// Returns a boolean, or false if the field is missing.
    package func flag(_ field: String) throws(Problem) -> Bool {
        guard object[field] != nil else { return false }
        guard case .bool(let flag) = try value(field, "true or false") else { throw wrong(field, "true or false") }
        return flag
    }

    /// Returns a required object.
    package func object(_ field: String, fields known: [String]) throws(Problem) -> JSONFields {
        guard case .object(let inner) = try value(field, "an object") else { throw wrong(field, "an object") }
        return try JSONFields(object: inner, path: "\(path)/\(field)", known: known)
    }

    /// Returns a date (RFC 3339), or nil if the field is missing or null.
    package func optionalDate(_ field: String) throws(Problem) -> Timestamp? {
        switch object[field] {
        case nil, .null: return nil
        case .string(let text):
            guard let date = Timestamp(internetDateTime: text) else { fallthrough }
            return date
        default: throw wrong(field, "an RFC 3339 date such as 2027-01-31T00:00:00Z")
        }
    }

    /// A string that may be absent or null. The two differ.
    package enum OptionalText {
        case absent
        case null
        case text(String)
    }

    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    package func optionalText(_ field: String, upTo maximumLength: Int = Self.maximumLength) throws(Problem)
        -> OptionalText
    {
        switch object[field] {
        case nil: return .absent
        case .null: return .null
        case .string(let text): return .text(try checked(text, field, maximumLength))
        default: throw wrong(field, "a string or null")
        }
    }

    /// Returns an array of objects. It is empty if the field is missing.
    package func optionalObjects(_ field: String, fields known: [String]) throws(Problem) -> [JSONFields] {
        guard let value = object[field] else { return [] }
        guard case .array(let elements) = value else { throw wrong(field, "an array of objects") }
        var objects: [JSONFields] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let inner) = element else { throw wrong("\(field)/\(index)", "an object") }
            objects.append(try JSONFields(object: inner, path: "\(path)/\(field)/\(index)", known: known))
        }
        return objects
    }

    /// Limits a string before anything compares, hashes or decodes it. Databases do not accept NUL.
    private func checked(_ text: String, _ field: String, _ maximumLength: Int) throws(Problem) -> String {
        guard text.utf8.count <= maximumLength, !Self.hasNUL(text) else {
            throw wrong(field, "a string of at most \(maximumLength) bytes, without NUL")
        }
        return text
    }

    /// Searches the bytes in place, because a proof has thousands.
    private static func hasNUL(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    private func value(_ field: String, _ expected: String) throws(Problem) -> JSONValue {
        guard let value = object[field] else {
            throw JSONBody.invalid("The field \(path)/\(field) is missing: it must be \(expected).")
        }
        return value
    }

    private func wrong(_ field: String, _ expected: String) -> Problem {
        JSONBody.invalid("The field \(path)/\(field) must be \(expected).")
    }
}
