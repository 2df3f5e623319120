import Commerce
import Foundation

/// Where Till keeps what it makes: the store's part and the service's part, which read nothing of each other's.
struct DataDirectory {
    let folder: URL

    /// - Parameter path: As given on the command line; nil for `$TILL_DATA`, else `.till`.
    init(path: String?) {
        let path = path ?? ProcessInfo.processInfo.environment["TILL_DATA"] ?? ".till"
        folder = URL(filePath: path, directoryHint: .isDirectory)
    }

    var storeFolder: URL { folder.appending(path: "store", directoryHint: .isDirectory) }
    var ledgerFile: URL { serviceFolder.appending(path: "ledger.sqlite", directoryHint: .notDirectory) }
    /// The certificates the service trusts besides those in `Keys/`.
    var trustFolder: URL { serviceFolder.appending(path: "trust", directoryHint: .isDirectory) }

    private var serviceFolder: URL { folder.appending(path: "service", directoryHint: .isDirectory) }

    /// Makes the directory, for its owner alone, and keeps it out of git.
    func prepare() throws(DataDirectoryError) {
        do {
            for folder in [folder, storeFolder, serviceFolder, trustFolder] {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            let ignored = folder.appending(path: ".gitignore", directoryHint: .notDirectory)
            if !FileManager.default.fileExists(atPath: ignored.path) {
                try Data("*\n".utf8).write(to: ignored, options: .atomic)
            }
        } catch {
            throw DataDirectoryError(path: folder.path)
        }
    }
}

/// The data directory cannot be made or written.
struct DataDirectoryError: CodedError {
    let path: String

    var code: String { "dataDirectoryUnusable" }
    var message: String {
        "The data directory \(path) cannot be made or written: check its disk and rights, or name another with --data."
    }
}
