import Foundation
import Signatures

/// A file that was not there before, and is whole and on the disk when it is there under its name.
public enum NewFile {
    /// - Parameter body: Writes a private file under a name of its own, and has it on the disk when it returns.
    /// - Throws: `BackupError` where the file is there already; what `body` throws, and then nothing is left behind.
    static func make(at file: URL, _ body: (_ unfinished: URL) throws -> Void) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else { throw BackupError.exists(path: file.path) }
        let unfinished = file.appendingPathExtension("unfinished")
        do {
            // What a crash left behind.
            try? FileManager.default.removeItem(at: unfinished)
            try PrivateFile.ensureExists(at: unfinished)
            try body(unfinished)
            try FileManager.default.moveItem(at: unfinished, to: file)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            throw error
        }
    }

    /// - Parameter body: Is given what to write with.
    /// - Throws: `BackupError` where the file is there already, or cannot be written; what `body` throws.
    public static func write<Value>(
        to file: URL,
        _ body: (_ write: (Data) throws(BackupError) -> Void) throws -> Value
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
