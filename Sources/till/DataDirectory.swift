import Commerce
import Foundation
import Ledger
import Server

/// Where Till keeps what it makes: the store's part and the service's part, which read nothing of each other's.
struct DataDirectory {
    let folder: URL

    /// - Parameter path: As given on the command line; nil for `$TILL_DATA`, else `.till`.
    init(path: String?) {
        // An empty name is a variable that was not set, not the current directory.
        let named = [path, ProcessInfo.processInfo.environment["TILL_DATA"]].compactMap(\.self).first { !$0.isEmpty }
        let path = named ?? ".till"
        folder = URL(filePath: path, directoryHint: .isDirectory)
    }

    var storeFolder: URL { folder.appending(path: "store", directoryHint: .isDirectory) }
    var ledgerFile: URL { serviceFolder.appending(path: "ledger.sqlite", directoryHint: .notDirectory) }
    /// The certificates the service trusts besides those in `Keys/`.
    var trustFolder: URL { serviceFolder.appending(path: "trust", directoryHint: .isDirectory) }

    /// Where trusted certificates lie, of those folders that are there.
    var trustedFolders: [URL] { [trustFolder, Installation.keys].compactMap(\.self).filter(\.isExistingFolder) }

    private var serviceFolder: URL { folder.appending(path: "service", directoryHint: .isDirectory) }

    /// Whether a store was ever made here.
    var exists: Bool { storeFolder.isExistingFolder }

    /// Whether a service ever kept anything here.
    var hasLedger: Bool { FileManager.default.fileExists(atPath: ledgerFile.path) }

    /// Makes the directory, for its owner alone, and keeps what Till makes in it out of git; a directory that was there
    /// before, perhaps with other things in it, stays as it was.
    func prepare() throws(DataDirectoryError) {
        try make([storeFolder, serviceFolder, trustFolder])
    }

    /// Makes the service's part alone, as `prepare` does: where a server runs, there is no store.
    func prepareService() throws(DataDirectoryError) {
        try make([serviceFolder, trustFolder])
    }

    private func make(_ parts: [URL]) throws(DataDirectoryError) {
        do {
            let isNew = !folder.isExistingFolder
            for folder in [folder] + parts {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            for folder in (isNew ? [folder] : []) + parts {
                let ignored = folder.appending(path: ".gitignore", directoryHint: .notDirectory)
                if !FileManager.default.fileExists(atPath: ignored.path) {
                    try Data("*\n".utf8).write(to: ignored, options: .atomic)
                }
            }
        } catch {
            throw DataDirectoryError(path: folder.path)
        }
    }
}

/// A command asks about what was never made.
struct DataDirectoryMissing: CodedError {
    let path: String

    var code: String { "dataDirectoryMissing" }
    var message: String {
        "There is nothing in \(path) yet: buy something first, or name another directory with --data."
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
