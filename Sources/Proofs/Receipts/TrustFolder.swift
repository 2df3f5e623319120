import Foundation
import SwiftASN1

/// A folder of trusted certificates in DER or PEM, in files named `.cer`, `.crt`, `.der` or `.pem`, and of the keys of apps on Google Play.
/// Other files and certificates that are not roots are ignored.
public struct TrustFolder: Sendable {
    /// A trusted root and its file.
    public struct Entry: Sendable {
        public let anchor: TrustAnchor
        public let file: URL
    }

    private static let fileExtensions: Set<String> = ["cer", "crt", "der", "pem"]

    let url: URL

    public init(_ url: URL) {
        self.url = url
    }

    /// Returns the roots in the folder, in the order of their file names.
    ///
    /// - Throws: `TrustError` that names the first unusable file, or the folder.
    public func entries() throws(TrustError) -> [Entry] {
        var entries: [Entry] = []
        for file in try files(Self.fileExtensions) {
            for certificate in try Self.certificates(inFile: file) {
                guard let anchor = try TrustAnchor(certificate) else { continue }
                entries.append(Entry(anchor: anchor, file: file))
            }
        }
        return entries
    }

    /// The files in the folder with one of the extensions, in the order of their names.
    func files(_ fileExtensions: Set<String>) throws(TrustError) -> [URL] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue,
            let files = try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        else { throw .folderUnreadable(path: url.path) }
        return files.filter { fileExtensions.contains($0.pathExtension.lowercased()) }.sorted { $0.path < $1.path }
    }

    /// Adds the roots of a file to the folder, each in its own file named after its SHA-256.
    ///
    /// - Returns: The roots, including those that the folder already had.
    /// - Throws: `TrustError` if the file contains no root, or a root that imitates Apple's. Then nothing is added.
    public func add(file: URL) throws(TrustError) -> [TrustAnchor] {
        var anchors: [TrustAnchor] = []
        for certificate in try Self.certificates(inFile: file) {
            if let anchor = try TrustAnchor(certificate) { anchors.append(anchor) }
        }
        guard !anchors.isEmpty else { throw .noRoot(path: file.path) }
        for anchor in anchors { try add(anchor) }
        return anchors
    }

    /// Adds a root to the folder, unless its file exists.
    public func add(_ anchor: TrustAnchor) throws(TrustError) {
        let name = "\(anchor.realm.rawValue)-\(anchor.certificate.fingerprint.hexadecimal.prefix(16)).cer"
        let file = url.appending(path: name, directoryHint: .notDirectory)
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        do { try Data(anchor.certificate.der).write(to: file, options: .atomic) } catch {
            throw .folderUnwritable(path: url.path)
        }
    }

    /// Removes a root from the folder.
    ///
    /// - Parameter fingerprint: The SHA-256 in hexadecimal, or a prefix of at least 8 digits.
    /// - Returns: The removed root.
    /// - Throws: `TrustError` if the prefix does not match exactly one root, or if the root's file contains others.
    public func remove(fingerprint: String) throws(TrustError) -> TrustAnchor {
        let wanted = fingerprint.lowercased().filter { $0 != ":" }
        let entries = try entries()
        let matching = entries.filter { $0.anchor.certificate.fingerprint.hexadecimal.hasPrefix(wanted) }
        guard wanted.count >= 8, let entry = matching.first, Set(matching.map(\.anchor)).count == 1,
            entries.count(where: { $0.file == entry.file }) == 1
        else { throw .notFound(fingerprint: String(wanted.prefix(64))) }
        for match in matching {
            do { try FileManager.default.removeItem(at: match.file) } catch { throw .folderUnwritable(path: url.path) }
        }
        return entry.anchor
    }

    private static func certificates(inFile file: URL) throws(TrustError) -> [Certificate] {
        guard let bytes = NamedFile.bytes(of: file) else { throw .fileUnreadable(path: file.path) }
        if let certificate = Certificate(der: bytes) { return [certificate] }
        guard let text = String(validating: bytes, as: UTF8.self),
            let documents = try? PEMDocument.parseMultiple(pemString: text), !documents.isEmpty
        else { throw .certificateUnreadable(path: file.path) }
        var certificates: [Certificate] = []
        for document in documents {
            guard document.discriminator == "CERTIFICATE", let certificate = Certificate(der: document.derBytes) else {
                throw .certificateUnreadable(path: file.path)
            }
            certificates.append(certificate)
        }
        return certificates
    }
}

/// A problem with a folder of trusted certificates.
public enum TrustError: CodedError, Equatable {
    case folderUnreadable(path: String)
    case fileUnreadable(path: String)
    case certificateUnreadable(path: String)
    case folderUnwritable(path: String)
    case impostor(name: String)
    case noRoot(path: String)
    case notFound(fingerprint: String)
    case appKeyUnreadable(path: String)

    public var code: String { statement.code }
    public var message: String { statement.message }

    private var statement: (code: String, message: String) {
        switch self {
        case .folderUnreadable(let path):
            (
                "trustFolderUnreadable",
                "Cannot read the folder of trusted certificates \"\(path)\". Check that it is a folder and its permissions."
            )
        case .fileUnreadable(let path):
            ("fileUnreadable", NamedFile.fault(of: path))
        case .certificateUnreadable(let path):
            (
                "certificateUnreadable",
                "\"\(path)\" is not a certificate. Use DER or PEM in files named .cer, .crt, .der or .pem."
            )
        case .folderUnwritable(let path):
            (
                "trustFolderUnwritable",
                "Cannot write to the folder of trusted certificates \"\(path)\". Check its permissions and the free disk space."
            )
        case .noRoot(let path):
            (
                "certificateNoRoot",
                "\"\(path)\" contains no root certificate. Choose the last certificate of a chain: the one that names itself "
                    + "as its issuer."
            )
        case .notFound(let fingerprint):
            (
                "certificateNotFound",
                "No single certificate in a file of its own matches \"\(fingerprint)\". Give at least 8 digits from "
                    + "`till trust list`."
            )
        case .appKeyUnreadable(let path):
            (
                "appKeyUnreadable",
                "\"\(path)\" is not the key of an app on Google Play. Remove it, and add the key with `till trust add FILE "
                    + "--package NAME`."
            )
        case .impostor(let name):
            (
                "certificateImpostor",
                "The certificate \"\(name.prefix(64))\" does not have a SHA-256 that Apple publishes for its roots. Remove it. "
                    + "Download Apple's roots from https://www.apple.com/certificateauthority/."
            )
        }
    }
}
