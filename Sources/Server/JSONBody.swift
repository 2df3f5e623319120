import Commerce
import HTTPTypes
import Hummingbird
import Receipts
import Signatures
import StrictJSON

/// A request's body: a JSON object of which the service takes the fields it knows.
struct JSONBody {
    /// The largest body read, in bytes: a proof in base64, and its JSON around it.
    static let maximumSize = ProofVerifier.maximumTextSize + 1024
    /// The same of what strangers send.
    static let sizeOfStrangers = 8 * 1024

    let bytes: [UInt8]
    private let fields: JSONFields

    /// - Parameters:
    ///   - maximumSize: The largest body read, in bytes.
    ///   - work: Where it is parsed, since a large one takes its time.
    /// - Throws: `Problem`, `bodyInvalid`.
    init(_ request: Request, upTo maximumSize: Int = maximumSize, parsedBy work: BlockingWork) async throws {
        self = try await Self(bytes: Self.collect(request, upTo: maximumSize), parsedBy: work)
    }

    /// - Parameter bytes: A body that was collected before.
    init(bytes: [UInt8], parsedBy work: BlockingWork) async throws {
        self.bytes = bytes
        let value = try await work.process(bytes.count) { [bytes] in try Self.parse(bytes) }
        guard case .object(let object) = value else { throw Self.invalid("The body has to be a JSON object.") }
        fields = JSONFields(object: object, path: "")
    }

    /// The bytes of a request's body, as slow as who sends them.
    static func collect(_ request: Request, upTo maximumSize: Int) async throws -> [UInt8] {
        var request = request
        do {
            return Array(try await request.collectBody(upTo: maximumSize).readableBytesView)
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            // Who has gone away reads no answer, and what went wrong is not the service's fault.
            throw Problem(
                status: .badRequest, code: "httpError", detail: "The connection ended before the request's body did.")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        do { return try JSONParser.parse(bytes, limits: .init(bytes: Self.maximumSize)) } catch {
            throw invalid("The body is not JSON: \(error.message).")
        }
    }

    var object: JSONObject { fields.object }

    func text(_ field: String) throws(Problem) -> String { try fields.text(field) }

    func integer(_ field: String) throws(Problem) -> Int { try fields.integer(field) }

    func optionalInteger(_ field: String) throws(Problem) -> Int? { try fields.optionalInteger(field) }

    func object(_ field: String) throws(Problem) -> JSONFields { try fields.object(field) }

    func optionalDate(_ field: String) throws(Problem) -> Timestamp? { try fields.optionalDate(field) }

    func optionalText(_ field: String) throws(Problem) -> JSONFields.OptionalText { try fields.optionalText(field) }

    func optionalObjects(_ field: String) throws(Problem) -> [JSONFields] { try fields.optionalObjects(field) }

    static func invalid(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "bodyInvalid", detail: detail)
    }
}

/// The fields of an object in a request's body; each that is not as it has to be is refused with its path (RFC 6901).
struct JSONFields {
    let object: JSONObject
    /// Where the object stands; empty for the body itself.
    let path: String

    /// A text that has to be there.
    func text(_ field: String) throws(Problem) -> String {
        guard case .string(let text) = try value(field, "a text") else { throw wrong(field, "a text") }
        return text
    }

    /// A whole number that has to be there.
    func integer(_ field: String) throws(Problem) -> Int {
        let expected = "a whole number"
        guard case .number(let number) = try value(field, expected), let integer = Int(number.text) else {
            throw wrong(field, expected)
        }
        return integer
    }

    /// A whole number; nil where it is left out.
    func optionalInteger(_ field: String) throws(Problem) -> Int? {
        object[field] == nil ? nil : try integer(field)
    }

    /// An object that has to be there.
    func object(_ field: String) throws(Problem) -> JSONFields {
        guard case .object(let inner) = try value(field, "an object") else { throw wrong(field, "an object") }
        return JSONFields(object: inner, path: "\(path)/\(field)")
    }

    /// A date (RFC 3339); nil where it is left out or null.
    func optionalDate(_ field: String) throws(Problem) -> Timestamp? {
        switch object[field] {
        case nil, .null: return nil
        case .string(let text):
            // Fractions of a second and small letters are RFC 3339 too; what ends with a second ends with its beginning.
            let whole = text.uppercased().replacing(/\.[0-9]+/, with: "")
            guard let date = Timestamp(rfc3339: whole) else { fallthrough }
            return date
        default: throw wrong(field, "a date as RFC 3339 writes it, such as 2027-01-31T00:00:00Z")
        }
    }

    /// A text that may be left out, or be null, which is not the same.
    enum OptionalText {
        case absent
        case null
        case text(String)
    }

    func optionalText(_ field: String) throws(Problem) -> OptionalText {
        switch object[field] {
        case nil: return .absent
        case .null: return .null
        case .string(let text): return .text(text)
        default: throw wrong(field, "a text or null")
        }
    }

    /// A list of objects; empty where it is left out.
    func optionalObjects(_ field: String) throws(Problem) -> [JSONFields] {
        guard let value = object[field] else { return [] }
        guard case .array(let elements) = value else { throw wrong(field, "a list of objects") }
        var objects: [JSONFields] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let inner) = element else { throw wrong("\(field)/\(index)", "an object") }
            objects.append(JSONFields(object: inner, path: "\(path)/\(field)/\(index)"))
        }
        return objects
    }

    private func value(_ field: String, _ expected: String) throws(Problem) -> JSONValue {
        guard let value = object[field] else {
            throw JSONBody.invalid("The field \(path)/\(field) is missing: it has to be \(expected).")
        }
        return value
    }

    private func wrong(_ field: String, _ expected: String) -> Problem {
        JSONBody.invalid("The field \(path)/\(field) has to be \(expected).")
    }
}
