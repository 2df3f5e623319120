import Foundation
import Proofs

/// A new file that gets its name only when all of it is on the disk.
package enum NewFile {
    /// Creates a private file.
    ///
    /// - Parameter body: Writes the file under a temporary name. All of it is on the disk when `body` returns.
    /// - Throws: `BackupError` if the file already exists; the errors of `body`, which leave no file behind.
    static func make(at file: URL, _ body: (_ unfinished: URL) throws -> Void) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else { throw BackupError.exists(path: file.path) }
        let unfinished = file.appendingPathExtension("unfinished")
        do {
            // A crash may have left this file behind.
            try? FileManager.default.removeItem(at: unfinished)
            try PrivateFile.ensureExists(at: unfinished)
            try body(unfinished)
            try FileManager.default.moveItem(at: unfinished, to: file)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            throw error
        }
    }

    /// Writes a new private file.
    ///
    /// - Parameter body: Receives a function that appends bytes to the file.
    /// - Throws: `BackupError` if the file already exists or cannot be written; the errors of `body`.
    package static func write<Value>(
        to file: URL, _ body: (_ write: (Data) throws(BackupError) -> Void) throws -> Value
    ) throws -> Value {
        var result: Result<Value, any Error>?
        do {
            try make(at: file) { unfinished in
                let output = try FileHandle(forWritingTo: unfinished)
                defer { try? output.close() }
                let written = Result {
                    try body { bytes throws(BackupError) in
                        do { try output.write(contentsOf: bytes) } catch { throw .notWritten(path: file.path) }
                    }
                }
                result = written
                _ = try written.get()
                try output.synchronize()
            }
        } catch let error as BackupError {
            throw error
        } catch {
            if case .failure(let met) = result { throw met }
            throw BackupError.notWritten(path: file.path)
        }
        guard let result else { throw BackupError.notWritten(path: file.path) }
        return try result.get()
    }
}

/// The reason why a backup or an export was not written.
package enum BackupError: StatedError, Equatable {
    case exists(path: String)
    case notWritten(path: String)
    /// The connection to the database was lost.
    case interrupted

    package var statement: CommandError {
        switch self {
        case .exists(let path): CommandError("backupExists", "\"\(path)\" already exists. Choose another file.")
        case .notWritten(let path):
            CommandError(
                "backupNotWritten",
                "\"\(path)\" cannot be written. Check that its folder exists, that this user may write there, and that the disk "
                    + "has space.")
        case .interrupted:
            CommandError("backupInterrupted", "The connection to the database was lost during the read. Try again.")
        }
    }
}
