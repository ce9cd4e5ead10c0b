# Homebrew formula of the npm package, for a tap. The address that a tarball can be had at, and its
# checksum, are put in by:
#
#   npm run package && npm run -s formula out/npm/memsync-VERSION.tgz URL > Formula/memsync.rb
class Memsync < Formula
  desc "Keeps what coding assistants learn, merged between all of your machines"
  homepage "https://www.npmjs.com/package/memsync"
  url "__URL__"
  sha256 "__SHA256__"
  license "MIT"

  depends_on "node"

  def install
    # Without install scripts; the launcher finds the binary in the package of the platform.
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    man1.install_symlink libexec.glob("share/man/man1/*")
  end

  def caveats
    <<~EOS
      To run the daemon in a project's folder:
        memsync up
      All state is kept in ~/.memsync; removing the formula leaves it there.
    EOS
  end

  test do
    ENV["MEMSYNC_HOME"] = testpath/"home"
    assert_equal version.to_s, shell_output("#{bin}/memsync --version").strip
    system bin/"memsync", "set", "--layer", "user", "build", "npm run build"
    assert_equal "npm run build", shell_output("#{bin}/memsync get --layer user build")
  end
end
