import AppStore
import Foundation
import Proofs

/// A PEM file of root certificates for the connection to a service.
struct CertificateFile {
    /// The largest size in bytes. The roots of a whole operating system have some 300 KB.
    private static let maximumSize = 4 << 20

    let path: String

    /// - Throws: `CertificateFileError`.
    func roots() throws(CertificateFileError) -> AdditionalRoots {
        let data: Data?
        do {
            data = try FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: Self.maximumSize + 1)
        } catch {
            throw .unreadable(path: path)
        }
        guard let data, data.count <= Self.maximumSize, let roots = AdditionalRoots(pem: [UInt8](data)) else {
            throw .invalid(path: path)
        }
        return roots
    }
}
