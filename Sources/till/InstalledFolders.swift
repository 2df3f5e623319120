import Catalog
import Foundation

/// The folders that come with an executable: those of the clone that built it, or of the package that installed it.
package struct InstalledFolders {
    /// The path of the executable without symbolic links; nil if unknown.
    package var executable = Bundle.main.executableURL?.resolvingSymlinksInPath()
    /// The folder whose catalog is used if the executable has none.
    package var currentDirectory = URL(
        filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)

    /// The folders that come with the running program.
    package init() {}

    /// The folder of the sample catalog: the clone's, else the package's, else that of the current directory.
    package var products: URL {
        [project, dataFolder].compactMap(\.self).map { Self.folder("Products", in: $0) }
            .first { Self.holds(Catalog.configurationFile, in: $0) } ?? Self.folder("Products", in: currentDirectory)
    }

    /// The folder of certificates that the user trusts; nil if there is none.
    ///
    /// The current directory is not searched: anyone may own it, and a writer of this folder can mint purchases. A writer of the
    /// folders above the executable, or of its prefix, can replace the executable anyway.
    package var keys: URL? { (project ?? dataFolder).map { Self.folder("Keys", in: $0) } }

    /// The clone above the executable; nil if there is none.
    private var project: URL? {
        guard let executable else { return nil }
        return sequence(first: executable) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }.dropFirst()
            .first { Self.holds("Package.swift", in: $0) }
    }

    /// The folder of the package's files: `/usr/share/till` for `/usr/bin/till`; nil for an executable that lies in no `bin`.
    private var dataFolder: URL? {
        guard let folder = executable?.deletingLastPathComponent(), folder.lastPathComponent == "bin" else {
            return nil
        }
        return folder.deletingLastPathComponent().appending(path: "share/till", directoryHint: .isDirectory)
    }

    private static func folder(_ name: String, in parent: URL) -> URL {
        parent.appending(path: name, directoryHint: .isDirectory)
    }

    private static func holds(_ file: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: file, directoryHint: .notDirectory).path)
    }
}
