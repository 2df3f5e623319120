import HTTPSupport
import Hummingbird
import Proofs

/// A form as the seed's own app sends it (`application/x-www-form-urlencoded`).
struct SeedAppForm {
    /// The largest form with a receipt, in bytes.
    static let sizeWithReceipt = BodyBudget.Limits.largestBody
    /// The longest text of a field, in bytes.
    private static let maximumLength = 256

    private let form: URLEncodedForm

    /// - Parameter maximumSize: The largest form read, in bytes.
    /// - Throws: `SeedAppStatus`, `clientError`, for an invalid form; `Problem`, `tooBusy`.
    init(
        _ request: Request,
        _ context: ServiceContext,
        upTo maximumSize: Int = JSONBody.standardSize
    ) async throws {
        let bytes: [UInt8]
        do {
            bytes = try await RequestBytes.collect(request, context, upTo: maximumSize)
        } catch let problem as Problem where problem.status == 503 {
            throw problem
        } catch {
            throw SeedAppStatus.clientError
        }
        guard let form = try await BlockingWork.process(bytes.count, { URLEncodedForm(bytes) }) else {
            throw SeedAppStatus.clientError
        }
        self.form = form
    }

    /// A required text.
    ///
    /// - Parameter maximumLength: The longest text, in bytes of UTF-8.
    func text(_ name: String, upTo maximumLength: Int = Self.maximumLength) throws(SeedAppStatus) -> String {
        guard let bytes = form[name], bytes.count <= maximumLength, !bytes.contains(0),
            let text = String(strictUTF8: bytes[...])
        else { throw .clientError }
        return text
    }

    func integer(_ name: String) throws(SeedAppStatus) -> Int {
        guard let number = Int(try text(name)) else { throw .clientError }
        return number
    }

    /// A required text in base64. Some clients send a plus sign unencoded, and some insert line breaks.
    func base64(_ name: String) throws(SeedAppStatus) -> [UInt8] {
        guard let bytes = form[name], !bytes.isEmpty else { throw .clientError }
        return bytes.compactMap { byte in
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): nil
            case UInt8(ascii: " "): UInt8(ascii: "+")
            default: byte
            }
        }
    }
}
