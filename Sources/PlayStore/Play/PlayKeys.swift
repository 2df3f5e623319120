import Foundation
import Proofs
import Synchronization

/// The Play's own keys, RSA of 2048 bits, each in a file of its own that is made at its first use.
///
/// The licensing key of an app signs its purchases. Another key signs the identity tokens of pushed notifications.
final class PlayKeys: Sendable {
    /// The use of a key. Its file has the name.
    enum Use: Hashable {
        case licensing(packageName: String)
        case identityTokens

        /// A package name has letters, digits, underscores and dots alone (`PackageName`).
        fileprivate var fileName: String {
            switch self {
            case .licensing(let packageName): "licensing-\(packageName).pem"
            case .identityTokens: "identity-tokens.pem"
            }
        }
    }

    private let folder: URL
    /// Makes each RSA key of the Play, and of its service accounts.
    let newKey: @Sendable () throws -> PrivateKey
    private let loaded = Mutex<[Use: PrivateKey]>([:])

    init(folder: URL, newKey: @escaping @Sendable () throws -> PrivateKey) {
        (self.folder, self.newKey) = (folder, newKey)
    }

    /// The key of a use. Two processes at once, or a crash, leave one key.
    func key(_ use: Use) throws -> PrivateKey {
        try loaded.withLock { loaded in
            if let known = loaded[use] { return known }
            let key = try load(use)
            loaded[use] = key
            return key
        }
    }

    private func load(_ use: Use) throws -> PrivateKey {
        let file = folder.appending(path: use.fileName, directoryHint: .notDirectory)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PrivateFile.withLock(folder.appendingPathExtension("lock")) {
                guard !FileManager.default.fileExists(atPath: file.path) else { return }
                try PrivateFile.replace(file, with: Array(try newKey().pem().utf8))
            }
        } catch {
            throw PlayError.signingFailed("\(error)")
        }
        guard let pem = try? String(contentsOf: file, encoding: .utf8), let key = try? PrivateKey(pem: pem) else {
            throw PlayError.keysUnreadable(path: file.path)
        }
        return key
    }
}

extension PlayBooks {
    /// The licensing key of an app, as the Play Console shows it: base64 of its SubjectPublicKeyInfo.
    ///
    /// - Throws: `PlayError`, `appNotFound`.
    package func licensingKey(of packageName: String) throws -> String {
        guard try hasApp(packageName) else { throw PlayError.appNotFound(packageName) }
        return try keys.key(.licensing(packageName: packageName)).publicKey.informationText()
    }
}

/// The form of an Android package name.
package enum PackageName {
    static let maximumLength = 150

    package static func isValid(_ text: String) -> Bool {
        text.utf8.count <= maximumLength
            && text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+/) != nil
    }

    /// The package name of an app with a bundle identifier. A hyphen becomes an underscore, because package names have none.
    package static func name(ofApp bundleIdentifier: String) -> String { bundleIdentifier.replacing("-", with: "_") }
}
