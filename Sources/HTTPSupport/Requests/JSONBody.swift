import HTTPTypes
import Hummingbird
import Proofs

/// The JSON object in a request's body.
package struct JSONBody {
    /// The default maximum size of a body, in bytes.
    package static let standardSize = 16 * 1024
    /// The maximum size of a body with a proof, in bytes: the proof in base64 and the JSON around it.
    package static let sizeWithProof = ProofVerifier.maximumTextSize + 1024
    /// The maximum size of a body without a credential, in bytes.
    package static let sizeWithoutCredential = 8 * 1024

    package let bytes: [UInt8]
    private let fields: JSONFields

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
        self = try await Self(
            bytes: RequestBytes.collect(request, context, upTo: maximumSize), fields: known)
    }

    /// Reads a collected body.
    package init(bytes: [UInt8], fields known: [String]?) async throws {
        self.bytes = bytes
        let value = try await BlockingWork.process(bytes.count) { [bytes] in try Self.parse(bytes) }
        guard case .object(let object) = value else { throw Self.invalid("The body must be a JSON object.") }
        fields = try JSONFields(object: object, path: "", known: known)
    }

    /// Reads a collected body with any fields, on the current thread.
    package init(bytes: [UInt8]) throws(Problem) {
        self.bytes = bytes
        guard case .object(let object) = try Self.parse(bytes) else {
            throw Self.invalid("The body must be a JSON object.")
        }
        fields = try JSONFields(object: object, path: "", known: nil)
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        do { return try JSONParser.parse(bytes, limits: .init(bytes: Self.sizeWithProof)) } catch {
            throw invalid("The body is not JSON: \(error.message).")
        }
    }

    package var object: JSONObject { fields.object }

    package func text(_ field: String, upTo maximumLength: Int = JSONFields.maximumLength) throws(Problem) -> String {
        try fields.text(field, upTo: maximumLength)
    }

    /// The bytes of a proof.
    package func proof(_ field: String) throws(Problem) -> [UInt8] {
        Array(try fields.text(field, upTo: ProofVerifier.maximumTextSize).utf8)
    }

    package func integer(_ field: String) throws(Problem) -> Int { try fields.integer(field) }

    package func optionalInteger(_ field: String) throws(Problem) -> Int? { try fields.optionalInteger(field) }

    package func flag(_ field: String) throws(Problem) -> Bool { try fields.flag(field) }

    package func object(_ field: String, fields known: [String]) throws(Problem) -> JSONFields {
        try fields.object(field, fields: known)
    }

    package func optionalDate(_ field: String) throws(Problem) -> Timestamp? { try fields.optionalDate(field) }

    package func optionalText(
        _ field: String,
        upTo maximumLength: Int = JSONFields.maximumLength
    ) throws(Problem) -> JSONFields.OptionalText {
        try fields.optionalText(field, upTo: maximumLength)
    }

    package func optionalObjects(_ field: String, fields known: [String]) throws(Problem) -> [JSONFields] {
        try fields.optionalObjects(field, fields: known)
    }

    package static func invalid(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "bodyInvalid", detail: detail)
    }
}
