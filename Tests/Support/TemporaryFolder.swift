import Foundation

/// A temporary folder, which is removed with its last owner.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// - Parameter isInMemory: True if the folder may be in memory, if the system supports that. Tests then do not wait for a
    ///   disk.
    package init(isInMemory: Bool = false) throws {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let usesMemory = isInMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (usesMemory ? memory : FileManager.default.temporaryDirectory).appending(
            path: "till-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func file(_ name: String) -> URL {
        url.appending(path: name, directoryHint: .notDirectory)
    }

    package func folder(_ name: String) -> URL {
        url.appending(path: name, directoryHint: .isDirectory)
    }

    package func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: file(name)))
    }
}
