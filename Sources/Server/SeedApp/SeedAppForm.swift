import Hummingbird
import Receipts

/// A form as the seed's own app sends it (`application/x-www-form-urlencoded`).
struct SeedAppForm {
    /// In bytes: a receipt, of which some characters are written with three.
    static let sizeWithReceipt = ProofVerifier.maximumTextSize * 3 / 2
    /// Of any other field.
    private static let maximumLength = 4096

    private let fields: [String: String]

    /// - Parameters:
    ///   - maximumSize: The largest read, in bytes.
    ///   - work: Where it is decoded, since a large one takes its time.
    /// - Throws: `SeedAppStatus`, `clientError` for what is no form.
    init(_ request: Request, upTo maximumSize: Int = 32 * 1024, decodedBy work: BlockingWork) async throws {
        guard let bytes = try? await JSONBody.collect(request, upTo: maximumSize) else {
            throw SeedAppStatus.clientError
        }
        let fields = try await work.process(bytes.count) {
            String(validating: bytes, as: UTF8.self).flatMap {
                try? URLEncodedFormDecoder().decode([String: String].self, from: $0)
            }
        }
        guard let fields else { throw SeedAppStatus.clientError }
        self.fields = fields
    }

    /// A field that has to be there, of so many characters as a person writes.
    func text(_ name: String) throws(SeedAppStatus) -> String {
        guard let text = fields[name], !text.utf8.contains(0), text.utf8.count <= Self.maximumLength else {
            throw .clientError
        }
        return text
    }

    func integer(_ name: String) throws(SeedAppStatus) -> Int {
        guard let number = Int(try text(name)) else { throw .clientError }
        return number
    }

    /// Base64 that has to be there. Not every client knows that a plus sign means a space in a form, and some break its lines.
    func base64(_ name: String) throws(SeedAppStatus) -> [UInt8] {
        guard let text = fields[name], !text.isEmpty else { throw .clientError }
        return text.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): nil
            case UInt8(ascii: " "): UInt8(ascii: "+")
            default: byte
            }
        }
    }
}
