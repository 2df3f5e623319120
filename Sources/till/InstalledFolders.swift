import Catalog
import Foundation

/// The folders that come with an executable. They lie above it, as `.build` lies in the project, or under the prefix whose `bin`
/// holds it.
package struct InstalledFolders {
    private let executable: URL?
    private let currentDirectory: URL

    /// - Parameters:
    ///   - executable: The path without symbolic links; nil if unknown.
    ///   - currentDirectory: The last place that is searched for the catalog.
    package init(executable: URL?, currentDirectory: URL) {
        self.executable = executable
        self.currentDirectory = currentDirectory
    }

    /// The catalog's folder: the first that has one, else that of the current directory.
    package var products: URL {
        productCandidates.first(where: Self.hasCatalog) ?? Self.folder("Products", in: currentDirectory)
    }

    /// The folders that can hold the catalog, in the order of the search.
    ///
    /// The current directory comes last: a command that an administrator runs somewhere uses the catalog of the service.
    package var productCandidates: [URL] {
        (foldersAboveExecutable + [configurationFolder, dataFolder].compactMap(\.self) + [currentDirectory])
            .map { Self.folder("Products", in: $0) }
    }

    /// The folder of certificates that the user trusts; nil if there is none.
    ///
    /// The current directory is not searched: anyone may own it, and a writer of this folder can mint purchases. A writer of the
    /// folders above the executable, or of its prefix, can replace the executable anyway.
    package var keys: URL? {
        if let project = foldersAboveExecutable.first(where: { Self.holds("Package.swift", in: $0) }) {
            return Self.folder("Keys", in: project)
        }
        return dataFolder.map { Self.folder("Keys", in: $0) }
    }

    private var foldersAboveExecutable: [URL] {
        guard let executable else { return [] }
        return Array(
            sequence(first: executable) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }.dropFirst())
    }

    /// `/usr` for `/usr/bin/till`; nil for an executable that lies in no `bin`.
    private var prefix: URL? {
        guard let folder = executable?.deletingLastPathComponent(), folder.lastPathComponent == "bin" else {
            return nil
        }
        return folder.deletingLastPathComponent()
    }

    /// The folder of the package's files.
    private var dataFolder: URL? { prefix?.appending(path: "share/till", directoryHint: .isDirectory) }

    /// The folder of the administrator's files: `/etc/till` for the prefix `/usr` (hier(7)).
    private var configurationFolder: URL? {
        guard let prefix else { return nil }
        let root = prefix.path == "/usr" ? URL(filePath: "/", directoryHint: .isDirectory) : prefix
        return root.appending(path: "etc/till", directoryHint: .isDirectory)
    }

    private static func folder(_ name: String, in parent: URL) -> URL {
        parent.appending(path: name, directoryHint: .isDirectory)
    }

    private static func hasCatalog(_ folder: URL) -> Bool { holds(Catalog.configurationFile, in: folder) }

    private static func holds(_ file: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: file, directoryHint: .notDirectory).path)
    }
}
