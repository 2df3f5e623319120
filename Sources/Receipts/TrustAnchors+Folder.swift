import Commerce
import Foundation
import Signatures
import SwiftASN1

extension TrustAnchors {
    /// Reads the roots in folders of certificates, DER or PEM, in files named `.cer`, `.crt`, `.der` or `.pem`; other files
    /// and certificates that are no roots are passed over.
    ///
    /// - Throws: `TrustError` naming the first folder or file that cannot be taken; `OpenSSLError`.
    public init(folders: [URL]) throws {
        var anchors: [TrustAnchor] = []
        for folder in folders {
            for certificate in try Self.certificates(in: folder) {
                guard let anchor = try TrustAnchor(certificate), !anchors.contains(anchor) else { continue }
                anchors.append(anchor)
            }
        }
        try self.init(anchors)
    }

    private static let fileExtensions: Set<String> = ["cer", "crt", "der", "pem"]

    private static func certificates(in folder: URL) throws -> [Certificate] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue,
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        else { throw TrustError.folderUnreadable(path: folder.path) }
        return
            try files
            .filter { fileExtensions.contains($0.pathExtension.lowercased()) }
            .sorted { $0.path < $1.path }
            .flatMap(certificates(inFile:))
    }

    private static func certificates(inFile file: URL) throws -> [Certificate] {
        guard let bytes = try? [UInt8](Data(contentsOf: file)) else {
            throw TrustError.certificateUnreadable(path: file.path)
        }
        if let certificate = Certificate(der: bytes) { return [certificate] }
        guard let text = String(validating: bytes, as: UTF8.self),
            let documents = try? PEMDocument.parseMultiple(pemString: text), !documents.isEmpty
        else { throw TrustError.certificateUnreadable(path: file.path) }
        return try documents.map { document in
            guard document.discriminator == "CERTIFICATE", let certificate = Certificate(der: document.derBytes) else {
                throw TrustError.certificateUnreadable(path: file.path)
            }
            return certificate
        }
    }
}
