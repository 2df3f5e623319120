import Foundation

/// The resident memory of a process, in bytes (proc(5), `/proc/PID/status`).
struct ProcessMemory: Sendable {
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The highest so far (`VmHWM`).
    let peak: Int
    /// The present (`VmRSS`).
    let current: Int

    /// - Throws: `Unreadable` if the process has ended.
    init(of processIdentifier: Int32) throws {
        let file = "/proc/\(processIdentifier)/status"
        let lines = ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
        func bytes(_ field: String) throws -> Int {
            let line = lines.first { $0.hasPrefix("\(field):") }
            guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
            else { throw Unreadable(description: "\(file) has no \(field): the service has ended.") }
            return kilobytes * 1024
        }
        peak = try bytes("VmHWM")
        current = try bytes("VmRSS")
    }
}
