import ArgumentParser
import Commerce

/// A command of Till's: it does its work, and its errors come out as one sentence and, with `--json`, as an object too.
protocol Command: AsyncParsableCommand {
    var common: CommonOptions { get }

    func perform() async throws
}

extension Command {
    var console: Console { Console(isJSON: common.json) }

    func run() async throws {
        do {
            try await perform()
        } catch let exit as ExitCode {
            throw exit
        } catch let error as ValidationError {
            throw error
        } catch let error as any CodedError {
            try console.fail(code: error.code, message: error.message)
        } catch {
            try console.fail(code: "failed", message: "\(error)")
        }
    }
}

/// The options that every command has.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false

    @Option(name: .customLong("data"), help: "The data directory (default: $TILL_DATA, else .till).")
    var dataPath: String?

    var dataDirectory: DataDirectory { DataDirectory(path: dataPath) }
}
