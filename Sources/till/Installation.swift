import Catalog
import Foundation

/// The folders that come with Till, found beside the executable or above it, as `.build` lies in the project.
enum Installation {
    /// The catalog's folder; looked for in the current directory too.
    static var products: URL {
        let current = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        let folders = (foldersAboveExecutable + [current]).map { folder("Products", in: $0) }
        return folders.first { holds(Catalog.configurationFile, in: $0) } ?? folder("Products", in: current)
    }

    /// The certificates that the user trusts; never the current directory's, which may be anybody's.
    static var keys: URL? {
        foldersAboveExecutable.first { holds("Package.swift", in: $0) }.map { folder("Keys", in: $0) }
    }

    private static var foldersAboveExecutable: [URL] {
        let executable = Bundle.main.executableURL?.resolvingSymlinksInPath()
        return Array(
            sequence(first: executable) { $0?.path == "/" ? nil : $0?.deletingLastPathComponent() }
                .dropFirst().compactMap(\.self))
    }

    private static func folder(_ name: String, in parent: URL) -> URL {
        parent.appending(path: name, directoryHint: .isDirectory)
    }

    private static func holds(_ file: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: file, directoryHint: .notDirectory).path)
    }
}
