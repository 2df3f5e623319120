import HTTPTypes
import Hummingbird
import Receipts
import Signatures
import StrictJSON

/// A request's body: a JSON object of which the service takes the fields it knows.
struct JSONBody {
    /// The largest body read, in bytes: a proof in base64, and its JSON around it.
    static let maximumSize = ProofVerifier.maximumTextSize + 1024

    let bytes: [UInt8]
    private let object: JSONObject

    /// - Throws: `Problem`, `bodyInvalid`.
    init(_ request: Request) async throws {
        var request = request
        do {
            bytes = Array(try await request.collectBody(upTo: Self.maximumSize).readableBytesView)
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            // Who has gone away reads no answer, and what went wrong is not the service's fault.
            throw Problem(
                status: .badRequest, code: "httpError", detail: "The connection ended before the request's body did.")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, limits: .init(bytes: Self.maximumSize))
        } catch {
            throw Self.invalid("The body is not JSON: \(error.message).")
        }
        guard case .object(let object) = value else { throw Self.invalid("The body has to be a JSON object.") }
        self.object = object
    }

    /// A text that has to be there.
    func text(_ field: String) throws(Problem) -> String {
        switch object[field] {
        case .string(let text): return text
        case nil: throw Self.invalid("The field /\(field) is missing: it has to be a text.")
        case .some: throw Self.invalid("The field /\(field) has to be a text.")
        }
    }

    private static func invalid(_ detail: String) -> Problem {
        Problem(status: .badRequest, code: "bodyInvalid", detail: detail)
    }
}
