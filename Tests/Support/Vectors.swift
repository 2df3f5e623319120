import Foundation

/// Real artefacts of Apple in the folder of the environment variable `TILL_VECTORS`.
package enum Vectors {
    package static let folder: URL? = ProcessInfo.processInfo.environment["TILL_VECTORS"].map {
        URL(filePath: $0, directoryHint: .isDirectory)
    }

    package static var areAvailable: Bool { folder != nil }

    /// The files of a folder whose names have a prefix, in order.
    package static func files(_ name: String, prefix: String = "") -> [URL] {
        guard let folder else { return [] }
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder.appending(path: name, directoryHint: .isDirectory), includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.lastPathComponent.hasPrefix(prefix) }.sorted { $0.path < $1.path }
    }

    /// The text of a proof without the white space of its file.
    package static func proof(_ file: URL) throws -> [UInt8] {
        try Data(contentsOf: file).filter { $0 > 0x20 }
    }
}
