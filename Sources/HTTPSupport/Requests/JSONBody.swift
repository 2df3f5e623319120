import Foundation
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// The JSON object in a request's body, or an object in it, with typed access to its fields. A field of the wrong type is refused with
/// its path (RFC 6901).
package struct JSONBody {
    /// The default maximum size of a body, in bytes.
    package static let standardSize = 16 * 1024
    /// The maximum size of a body with a proof, in bytes: the proof in base64 and the JSON around it.
    package static let sizeWithProof = ProofVerifier.maximumTextSize + 1024
    /// The maximum size of a body without a credential, in bytes.
    package static let sizeWithoutCredential = 8 * 1024
    /// The default maximum length of a string, in bytes of UTF-8.
    package static let maximumLength = 256
    /// The maximum length of an e-mail address or password in bytes. Their own rules refuse shorter ones with a
    /// specific code.
    package static let maximumCredentialLength = 1024

    package let object: JSONObject
    /// The path of the object. Empty for the body itself.
    package let path: String
    /// The bytes of the body. Empty for an object in it.
    package let bytes: [UInt8]

    /// Reads the body.
    ///
    /// - Parameters:
    ///   - known: The names of all fields. Other fields are refused. Nil accepts and ignores any field.
    ///   - maximumSize: The maximum size of the body, in bytes.
    /// - Throws: `Problem` with the code `bodyInvalid` or `tooBusy`; `HTTPError` if the body is too large.
    package init(
        _ request: Request,
        _ context: ServiceContext,
        fields known: [String]?,
        upTo maximumSize: Int = standardSize
    ) async throws {
        self = try await Self(bytes: RequestBytes.collect(request, context, upTo: maximumSize), fields: known)
    }

    /// Reads the body of an operation. Fields that its description lacks are refused.
    package init(
        _ request: Request,
        _ context: ServiceContext,
        of operation: APIOperation,
        upTo maximumSize: Int = standardSize
    ) async throws {
        try await self.init(request, context, fields: operation.bodyFields, upTo: maximumSize)
    }

    /// Reads a collected body.
    package init(bytes: [UInt8], fields known: [String]?) async throws {
        let value = try await BlockingWork.process(bytes.count) { try Self.parse(bytes) }
        try self.init(value, bytes: bytes, known: known)
    }

    /// Reads a collected body with any fields, on the current thread.
    package init(bytes: [UInt8]) throws(Problem) {
        try self.init(try Self.parse(bytes), bytes: bytes, known: nil)
    }

    private init(_ value: JSONValue, bytes: [UInt8], known: [String]?) throws(Problem) {
        guard case .object(let object) = value else { throw Self.invalid("The body must be a JSON object.") }
        try self.init(object: object, bytes: bytes, known: known)
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        do { return try JSONParser.parse(bytes, limits: .init(bytes: Self.sizeWithProof)) } catch {
            throw invalid("The body is not JSON: \(error.message).")
        }
    }

    /// - Parameter known: The names of all fields. Nil accepts any.
    /// - Throws: `Problem` with the code `bodyInvalid` if a field has another name.
    package init(object: JSONObject, path: String = "", bytes: [UInt8] = [], known: [String]?) throws(Problem) {
        self.object = object
        self.path = path
        self.bytes = bytes
        guard let known else { return }
        if let unknown = object.keys.first(where: { key in !known.contains { $0.hasSameBytes(as: key) } }) {
            let name = "\(path)/\(unknown.unicodeScalars.prefix(64).map(String.init).joined())"
            let others = known.isEmpty ? "" : " The fields are \(known.joined(separator: ", "))."
            throw Self.invalid(
                "The field \(name) is unknown.\(Suggestion.sentence(for: unknown, among: known))\(others)")
        }
    }

    /// Returns a required string.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    package func text(_ field: String, upTo maximumLength: Int = Self.maximumLength) throws(Problem) -> String {
        let text = try required(field, "a string") { if case .string(let text) = $0 { text } else { nil } }
        return try checked(text, field, maximumLength)
    }

    package func proof(_ field: String) throws(Problem) -> [UInt8] {
        Array(try text(field, upTo: ProofVerifier.maximumTextSize).utf8)
    }

    /// Returns a signed purchase of Google Play, in the fields `purchase` and `signature`.
    package func signedPurchase() throws(Problem) -> SignedPurchase {
        SignedPurchase(
            data: Array(try text("purchase", upTo: SignedPurchase.maximumSize).utf8),
            signature: Array(try text("signature", upTo: SignedPurchase.maximumSignatureSize).utf8))
    }

    /// Returns a purchase token of Google Play, in the fields `purchaseToken`, `packageName` and `productId`.
    package func googlePlayToken() throws(Problem) -> GooglePlayToken {
        let token = try text("purchaseToken", upTo: GooglePlayPurchase.maximumTokenSize)
        func name(_ field: String) throws(Problem) -> String? {
            object[field] == nil ? nil : try text(field, upTo: GooglePlayPurchase.maximumNameSize)
        }
        let (packageName, productId) = (try name("packageName"), try name("productId"))
        do throws(ProofRefusal) {
            return try GooglePlayToken(purchaseToken: token, packageName: packageName, productId: productId)
        } catch {
            throw Self.invalid(error.detail ?? error.message)
        }
    }

    package func integer(_ field: String) throws(Problem) -> Int {
        try required(field, "an integer") { if case .number(let number) = $0 { Int(number.text) } else { nil } }
    }

    /// Returns an integer, or nil if the field is missing.
    package func optionalInteger(_ field: String) throws(Problem) -> Int? {
        object[field] == nil ? nil : try integer(field)
    }

    /// Returns a boolean, or false if the field is missing.
    package func flag(_ field: String) throws(Problem) -> Bool {
        guard object[field] != nil else { return false }
        return try required(field, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    package func object(_ field: String, fields known: [String]) throws(Problem) -> JSONBody {
        let inner = try required(field, "an object") { if case .object(let inner) = $0 { inner } else { nil } }
        return try JSONBody(object: inner, path: "\(path)/\(field)", known: known)
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
    package func optionalObjects(_ field: String, fields known: [String]) throws(Problem) -> [JSONBody] {
        guard let value = object[field] else { return [] }
        guard case .array(let elements) = value else { throw wrong(field, "an array of objects") }
        var objects: [JSONBody] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let inner) = element else { throw wrong("\(field)/\(index)", "an object") }
            objects.append(try JSONBody(object: inner, path: "\(path)/\(field)/\(index)", known: known))
        }
        return objects
    }

    /// Limits a string before anything compares, hashes or decodes it. Databases do not accept NUL.
    private func checked(_ text: String, _ field: String, _ maximumLength: Int) throws(Problem) -> String {
        guard text.utf8.count <= maximumLength, !text.hasNUL else {
            throw wrong(field, "a string of at most \(maximumLength) bytes, without NUL")
        }
        return text
    }

    private func required<Value>(
        _ field: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(Problem) -> Value {
        guard let value = object[field] else {
            throw Self.invalid("The field \(path)/\(field) is missing: it must be \(expected).")
        }
        guard let read = read(value) else { throw wrong(field, expected) }
        return read
    }

    private func wrong(_ field: String, _ expected: String) -> Problem {
        Self.invalid("The field \(path)/\(field) must be \(expected).")
    }

    package static func invalid(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "bodyInvalid", detail: detail)
    }
}

/// The reason that a team gives for a change, in its own words.
package enum Reason {
    /// The longest reason, in characters.
    package static let maximumLength = 500
    /// The longest reason, in bytes of UTF-8.
    package static let maximumSize = 4 * maximumLength
    /// The rule for reasons, as the end of a sentence.
    package static let rule = "1 to \(maximumLength) visible characters, without line breaks"

    /// True if a text can be a reason. Invisible characters could hide a part of it.
    package static func isReason(_ text: String) -> Bool {
        (1...maximumLength).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }

    /// Reads the field `reason`.
    package static func read(_ body: JSONBody) throws(Problem) -> String {
        let text = try body.text("reason", upTo: maximumSize)
        guard isReason(text) else { throw JSONBody.invalid("The field /reason must have \(rule).") }
        return text
    }
}

/// Checks untrusted JSON before Foundation's decoder, which hashes keys by canonical equivalence.
///
/// It limits keys and non-ASCII strings, so the decoder's work stays proportional to the size of the body.
package enum CheckedJSON {
    /// The maximum length of a key, in bytes.
    private static let maximumKeyLength = 256
    /// The maximum length of a non-ASCII string, in bytes.
    private static let maximumTextLength = 1024

    /// Decodes a body.
    ///
    /// - Throws: `CheckedJSON.Refusal` if a key or string is too long; `JSONSyntaxError`; `DecodingError`.
    package static func decode<Body: Decodable>(_ type: Body.Type, from bytes: [UInt8]) throws -> Body {
        try check(try JSONParser.parse(bytes, limits: .init(bytes: bytes.count)))
        return try JSONDecoder().decode(type, from: Data(bytes))
    }

    package struct Refusal: Error {}

    package static func check(_ value: JSONValue) throws(Refusal) {
        switch value {
        case .object(let object):
            for member in object.members {
                guard member.key.utf8.count <= maximumKeyLength else { throw Refusal() }
                try check(member.value)
            }
        case .array(let elements): for element in elements { try check(element) }
        case .string(let text):
            guard text.utf8.count <= maximumTextLength || text.utf8.allSatisfy({ $0 < 0x80 }) else { throw Refusal() }
        case .number, .bool, .null: break
        }
    }
}
