import AppStore
import Foundation
import Proofs

/// A file with a proof of purchase: saved text, or the DER of an app receipt.
struct ProofFile {
    /// The proof for a verifier: DER, or text without the white space that files and mails add.
    let bytes: [UInt8]

    /// - Parameter path: `-` for standard input.
    init(path: String) throws(ProofFileError) {
        let data: Data?
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            // Twice the limit is enough to detect a file that is too large.
            data = try handle.read(upToCount: 2 * ProofVerifier.maximumSize)
        } catch {
            throw ProofFileError(path: path)
        }
        let bytes = [UInt8](data ?? Data())
        let isDER = bytes.first == 0x30
        self.bytes = isDER ? bytes : bytes.filter { !Self.whitespace.contains($0) }
    }

    /// The proof as an app sends it.
    var proof: Proof {
        if bytes.first == 0x30 { return .receipt(Base64.encode(bytes)) }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(".") ? .signedTransaction(text) : .receipt(text)
    }

    private static let whitespace = Set("\n\r\t ".utf8)
}

/// An error for a proof's file that cannot be read.
struct ProofFileError: CodedError {
    let path: String

    var code: String { "fileUnreadable" }
    var message: String { "\"\(path)\" cannot be read. Check that it is a file and that you may read it." }
}
