import ArgumentParser
import Hummingbird
import AsyncHTTPClient
import GRDB
import SwiftASN1
@main struct Till: AsyncParsableCommand { func run() async throws {} }
